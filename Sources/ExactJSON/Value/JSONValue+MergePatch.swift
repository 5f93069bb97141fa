// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// The value after a merge patch (RFC 7396): members of the patch replace those here, objects are merged member
    /// by member, `null` removes, and a patch that is no object replaces the whole value.
    ///
    /// Members that stay keep their place; new ones come after them in the order of the patch. Takes time in
    /// proportion to the two values.
    public func mergePatched(with patch: JSONValue) -> JSONValue {
        guard case .object(let patch) = patch else { return patch }
        var result = JSONObject()
        let target = objectValue ?? JSONObject()
        for (name, value) in target {
            guard let change = patch[name] else {
                result.append(name, value)
                continue
            }
            if !change.isNull { result.append(name, value.mergePatched(with: change)) }
        }
        for (name, change) in patch where !change.isNull && !target.contains(name) {
            result.append(name, JSONValue.null.mergePatched(with: change))
        }
        return .object(result)
    }
}
