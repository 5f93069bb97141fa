// SPDX-License-Identifier: Apache-2.0

/// A place in one of the documents at hand.
struct SchemaPlace: Hashable, Sendable {
    let document: Int
    let pointer: JSONPointer

    func appending(_ tokens: String...) -> SchemaPlace {
        SchemaPlace(document: document, pointer: JSONPointer(tokens: pointer.tokens + tokens))
    }
}

/// A schema resource: a document, or a part of one that has an `$id` of its own (Core, section 4.3.5).
struct SchemaResource: Sendable {
    let uri: String
    let root: SchemaPlace
    var anchors: [ExactKey: SchemaPlace] = [:]
    var dynamicAnchors: [ExactKey: SchemaPlace] = [:]
}

/// The documents at hand, and what names lead where.
struct SchemaRegistry {
    private(set) var documents: [JSONValue] = []
    private(set) var resources: [SchemaResource] = []
    private var resourceByURI: [ExactKey: Int] = [:]
    /// The resource of each schema that has been gone through.
    private var owners: [SchemaPlace: Int] = [:]

    /// Keywords that hold one schema, a list of schemas, or schemas by name.
    static let single = Set(exactly: [
        "items", "contains", "additionalProperties", "propertyNames", "if", "then", "else", "not",
        "unevaluatedItems", "unevaluatedProperties", "contentSchema",
    ])
    static let lists = Set(exactly: ["allOf", "anyOf", "oneOf", "prefixItems"])
    static let maps = Set(exactly: ["$defs", "definitions", "properties", "patternProperties", "dependentSchemas"])

    /// Takes a document in under a URI and its own `$id`.
    @discardableResult
    mutating func add(_ document: JSONValue, uri: String) -> SchemaPlace {
        let place = SchemaPlace(document: documents.count, pointer: .root)
        documents.append(document)
        let uri = URIReference(uri).withoutFragment
        var resource: Int?
        if document["$id"]?.stringValue == nil { resource = register(uri, place) }
        scan(document, place, base: uri, resource: resource)
        // A document is also known by the URI it was given under.
        if resourceByURI[ExactKey(uri)] == nil, let owner = owners[place] { resourceByURI[ExactKey(uri)] = owner }
        return place
    }

    private mutating func register(_ uri: String, _ place: SchemaPlace) -> Int {
        resources.append(SchemaResource(uri: uri, root: place))
        if resourceByURI[ExactKey(uri)] == nil { resourceByURI[ExactKey(uri)] = resources.count - 1 }
        return resources.count - 1
    }

    /// Goes through a schema and the schemas in it, taking note of `$id` and anchors.
    private mutating func scan(_ schema: JSONValue, _ place: SchemaPlace, base: String, resource: Int?) {
        guard owners[place] == nil else { return }
        var base = base
        var resource = resource
        if let id = schema["$id"]?.stringValue {
            let uri = URIReference(base).resolving(URIReference(id))
            if uri.fragment?.isEmpty != false {
                base = uri.withoutFragment
                resource = register(base, place)
            }
        }
        let owner = resource ?? register(base, place)
        owners[place] = owner
        guard case .object(let members) = schema else { return }
        if let anchor = members["$anchor"]?.stringValue { resources[owner].anchors[ExactKey(anchor)] = place }
        if let anchor = members["$dynamicAnchor"]?.stringValue {
            resources[owner].dynamicAnchors[ExactKey(anchor)] = place
        }
        for (keyword, value) in members {
            let key = ExactKey(keyword)
            if Self.single.contains(key) {
                scan(value, place.appending(keyword), base: base, resource: owner)
            } else if Self.lists.contains(key), let elements = value.arrayValue {
                for (index, element) in elements.enumerated() {
                    scan(element, place.appending(keyword, String(index)), base: base, resource: owner)
                }
            } else if Self.maps.contains(key), let named = value.objectValue {
                for (name, element) in named {
                    scan(element, place.appending(keyword, name), base: base, resource: owner)
                }
            }
        }
    }

    /// What stands at a place.
    func value(at place: SchemaPlace) -> JSONValue? { documents[place.document].at(place.pointer) }

    /// The resource that a place belongs to.
    func owner(of place: SchemaPlace) -> Int { owners[place] ?? 0 }

    /// A place's absolute location: its resource's URI and a pointer from there.
    func location(of place: SchemaPlace) -> String {
        let resource = resources[owner(of: place)]
        let rest = place.pointer.tokens.dropFirst(resource.root.pointer.tokens.count)
        return resource.uri + "#" + JSONPointer(tokens: Array(rest)).description
    }

    /// What a resource's meta-schema is, when at hand.
    mutating func document(uri: String) -> JSONValue? {
        guard let resource = find(URIReference(uri).withoutFragment) else { return nil }
        return value(at: resources[resource].root)
    }

    private mutating func find(_ uri: String) -> Int? {
        if let known = resourceByURI[ExactKey(uri)] { return known }
        guard let document = MetaSchema.document(uri: uri) else { return nil }
        return owners[add(document, uri: uri)]
    }

    /// Follows a reference.
    /// - Returns: The place it leads to, and the anchor's name if that place is a dynamic anchor.
    mutating func resolve(
        _ reference: String,
        from place: SchemaPlace,
        keyword: String
    ) throws(JSONSchemaError) -> (place: SchemaPlace, dynamicAnchor: String?) {
        let target = URIReference(resources[owner(of: place)].uri).resolving(URIReference(reference))
        func unresolved(_ message: String) -> JSONSchemaError {
            JSONSchemaError(
                code: .unresolvedReference,
                location: location(of: place) + "/" + keyword,
                message: "The reference leads to \(target.text): \(message)"
            )
        }
        guard let resource = find(target.withoutFragment) else {
            throw unresolved("no such schema was given, and none is fetched; give it as a resource.")
        }
        guard let fragment = URIReference.percentDecoded(target.fragment ?? "") else {
            throw unresolved("the fragment is not well formed.")
        }
        if fragment.isEmpty { return (resources[resource].root, nil) }
        if fragment.utf8.first == UInt8(ascii: "/") {
            guard let pointer = JSONPointer(fragment) else { throw unresolved("the fragment is no JSON pointer.") }
            let root = resources[resource].root
            let found = SchemaPlace(document: root.document, pointer: root.pointer.appending(pointer))
            guard let value = value(at: found) else { throw unresolved("nothing stands there.") }
            adopt(value, found)
            return (found, nil)
        }
        if let found = resources[resource].dynamicAnchors[ExactKey(fragment)] { return (found, fragment) }
        guard let found = resources[resource].anchors[ExactKey(fragment)] else {
            throw unresolved("there is no such anchor.")
        }
        return (found, nil)
    }

    /// Goes through a schema that stands where no schema is expected, below an unknown keyword.
    private mutating func adopt(_ value: JSONValue, _ place: SchemaPlace) {
        guard owners[place] == nil else { return }
        var above = place.pointer
        while let parent = above.parent {
            above = parent
            if let owner = owners[SchemaPlace(document: place.document, pointer: above)] {
                scan(value, place, base: resources[owner].uri, resource: owner)
                return
            }
        }
    }
}
