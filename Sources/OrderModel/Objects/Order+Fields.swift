// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

/// An order as a Swift value: every object and field that Apple's model has. Apple: WalletOrders, `Order`.
///
/// The properties have Apple's names, and stand in Apple's order. Identifiers, dates, amounts and codes are types that
/// can't hold what Wallet would refuse; rules across fields are checked where an order becomes an ``OrderDocument``:
///
/// ```swift
/// let order = try Order(text: bytes)        // throws InvalidOrderError with every finding
/// let document = try OrderDocument(order)   // throws it, too
/// let bytes = order.serialized(.pretty)     // an order.json
/// ```
///
/// A localizable text may be a key of `order.strings`. What has no *since* is known to iOS 16.0, the first with orders.
///
/// Reading and writing lose nothing: texts, digits of numbers, dates with their zones and durations stay as they were
/// written. Four things are put into the one form that packages have: amounts that came as JSON numbers are written as
/// texts of the same digits, quantities that came as texts as numbers, members stand in Apple's order, and null
/// members, which devices take for absent, are left out. A document that a service is to complete gets its
/// `schemaVersion` and `updatedAt`.
///
/// All objects are nested types: `Address`, `Customer`, `Location` or `Return` are names that a shop has for types of
/// its own. One name is left that may clash, and `typealias WalletOrder = OrderModel.Order` helps there.
///
/// It is not `Codable` on purpose. Decoders hand a JSON number over as a binary fraction or not at all, so nothing
/// exact could be promised; a type that is `Codable` can hold the text.
public struct Order: Sendable, Hashable {
    /// The version of the document's form; version 1 reaches every device.
    public var schemaVersion: SchemaVersion
    /// Whose orders these are: the identifier in the signing certificate, never shown.
    public var orderTypeIdentifier: OrderTypeIdentifier
    /// Which order it is, unique within the order type and never shown.
    public var orderIdentifier: OrderIdentifier
    /// The kind of order; Apple has one.
    public var orderType: OrderType
    /// The number to show the customer.
    public var orderNumber: String?
    /// When the customer ordered.
    public var createdAt: DateTime
    /// When the order last changed: equal to `createdAt` before the first change, and later after each. A device keeps
    /// the later of two. When an order is put together without it, it is `createdAt`.
    public var updatedAt: DateTime
    /// Where the order as a whole stands.
    public var status: Status
    /// More about where it stands. Localizable.
    public var statusDescription: String?
    /// Who sells.
    public var merchant: Merchant
    /// The platform that supplies the data, when it is not the merchant. Since iOS 17.4.
    public var orderProvider: OrderProvider?
    /// Who bought.
    public var customer: Customer?
    /// Where the customer manages the order; a universal link opens the app.
    public var orderManagementURL: URI
    /// Everything that was ordered, in the order to be shown.
    public var lineItems: [LineItem]?
    /// What was paid, and how.
    public var payment: Payment?
    /// Parcels and pickups, in the order to be shown.
    public var fulfillments: [Fulfillment]?
    /// Returns, in the order to be shown. Since iOS 17.2.
    public var returns: [Return]?
    /// The terms of returning goods. Since iOS 17.2.
    public var returnInfo: ReturnInfo?
    /// A code that stands for the order.
    public var barcode: Barcode?
    /// Apps that belong to the order, best first: the device takes the first that it can have.
    public var associatedApplications: [Application]?
    /// Identifiers of apps that belong to the order, also of those outside the App Store. Since iOS 17.0.
    public var associatedApplicationIdentifiers: [String]?
    /// Whether Wallet tells the customer of changes; nil is yes.
    public var changeNotifications: ChangeNotifications?
    /// Where devices ask for changes: the https URL in front of `/v1`. It needs `authenticationToken` beside it;
    /// without both the order never changes.
    public var webServiceURL: URI?
    /// The secret that devices show there; the same for the order's whole life.
    public var authenticationToken: AuthenticationToken?
    /// Members that Apple's tables do not have, in their order. Validation refuses them unless
    /// ``ValidationOptions/unknownMembers`` says otherwise. They are written behind the others; a name that has a
    /// property of its own is only written while that property is nil.
    public var unknownFields: JSONObject

    /// Puts an order together; what is left out is nil, or as the property says.
    public init(
        schemaVersion: SchemaVersion = .version1,
        orderTypeIdentifier: OrderTypeIdentifier,
        orderIdentifier: OrderIdentifier,
        orderType: OrderType = .ecommerce,
        orderNumber: String? = nil,
        createdAt: DateTime,
        updatedAt: DateTime? = nil,
        status: Status,
        statusDescription: String? = nil,
        merchant: Merchant,
        orderProvider: OrderProvider? = nil,
        customer: Customer? = nil,
        orderManagementURL: URI,
        lineItems: [LineItem]? = nil,
        payment: Payment? = nil,
        fulfillments: [Fulfillment]? = nil,
        returns: [Return]? = nil,
        returnInfo: ReturnInfo? = nil,
        barcode: Barcode? = nil,
        associatedApplications: [Application]? = nil,
        associatedApplicationIdentifiers: [String]? = nil,
        changeNotifications: ChangeNotifications? = nil,
        webServiceURL: URI? = nil,
        authenticationToken: AuthenticationToken? = nil,
        unknownFields: JSONObject = JSONObject()
    ) {
        self.schemaVersion = schemaVersion
        self.orderTypeIdentifier = orderTypeIdentifier
        self.orderIdentifier = orderIdentifier
        self.orderType = orderType
        self.orderNumber = orderNumber
        self.createdAt = createdAt
        self.updatedAt = updatedAt ?? createdAt
        self.status = status
        self.statusDescription = statusDescription
        self.merchant = merchant
        self.orderProvider = orderProvider
        self.customer = customer
        self.orderManagementURL = orderManagementURL
        self.lineItems = lineItems
        self.payment = payment
        self.fulfillments = fulfillments
        self.returns = returns
        self.returnInfo = returnInfo
        self.barcode = barcode
        self.associatedApplications = associatedApplications
        self.associatedApplicationIdentifiers = associatedApplicationIdentifiers
        self.changeNotifications = changeNotifications
        self.webServiceURL = webServiceURL
        self.authenticationToken = authenticationToken
        self.unknownFields = unknownFields
    }

    /// Where an order as a whole stands.
    public typealias Status = OrderStatus

    /// The version of the document's form.
    public enum SchemaVersion: Int, Sendable, Hashable, CaseIterable {
        /// The version in Apple's reference.
        case version1 = 1
        /// Read by iOS 17 and later only; payments may come without status.
        case version2 = 2
    }

    /// The kind of order.
    public enum OrderType: String, FieldChoice, CaseIterable {
        /// Goods or services that were bought.
        case ecommerce
    }

    /// Whether Wallet tells the customer of changes.
    public enum ChangeNotifications: String, FieldChoice, CaseIterable {
        /// It does.
        case enabled
        /// Only while none of the associated apps is on the device.
        case disabledIfAppInstalled
    }
}

extension Order: OrderObject {
    static var table: ObjectDescription { .order }

    init(reading fields: FieldReader) throws(FieldFault) {
        schemaVersion = try fields.optional("schemaVersion") ?? .version1
        orderTypeIdentifier = try fields.required("orderTypeIdentifier")
        orderIdentifier = try fields.required("orderIdentifier")
        orderType = try fields.required("orderType")
        orderNumber = try fields.optional("orderNumber")
        createdAt = try fields.required("createdAt")
        updatedAt = try fields.optional("updatedAt") ?? createdAt
        status = try fields.required("status")
        statusDescription = try fields.optional("statusDescription")
        merchant = try fields.required("merchant")
        orderProvider = try fields.optional("orderProvider")
        customer = try fields.optional("customer")
        orderManagementURL = try fields.required("orderManagementURL")
        lineItems = try fields.optional("lineItems")
        payment = try fields.optional("payment")
        fulfillments = try fields.optional("fulfillments")
        returns = try fields.optional("returns")
        returnInfo = try fields.optional("returnInfo")
        barcode = try fields.optional("barcode")
        associatedApplications = try fields.optional("associatedApplications")
        associatedApplicationIdentifiers = try fields.optional("associatedApplicationIdentifiers")
        changeNotifications = try fields.optional("changeNotifications")
        webServiceURL = try fields.optional("webServiceURL")
        authenticationToken = try fields.optional("authenticationToken")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("schemaVersion", schemaVersion)
        fields.put("orderTypeIdentifier", orderTypeIdentifier)
        fields.put("orderIdentifier", orderIdentifier)
        fields.put("orderType", orderType)
        fields.put("orderNumber", orderNumber)
        fields.put("createdAt", createdAt)
        fields.put("updatedAt", updatedAt)
        fields.put("status", status)
        fields.put("statusDescription", statusDescription)
        fields.put("merchant", merchant)
        fields.put("orderProvider", orderProvider)
        fields.put("customer", customer)
        fields.put("orderManagementURL", orderManagementURL)
        fields.put("lineItems", lineItems)
        fields.put("payment", payment)
        fields.put("fulfillments", fulfillments)
        fields.put("returns", returns)
        fields.put("returnInfo", returnInfo)
        fields.put("barcode", barcode)
        fields.put("associatedApplications", associatedApplications)
        fields.put("associatedApplicationIdentifiers", associatedApplicationIdentifiers)
        fields.put("changeNotifications", changeNotifications)
        fields.put("webServiceURL", webServiceURL)
        fields.put("authenticationToken", authenticationToken)
    }
}

extension Order.SchemaVersion: FieldValue {
    init(field value: JSONValue) throws(FieldFault) {
        guard let number = value.int64Value, let version = Self(rawValue: Int(number)) else { throw FieldFault() }
        self = version
    }

    var field: JSONValue { .number(JSONNumber(Int64(rawValue))) }
}

extension OrderStatus: FieldChoice {}
extension PaymentStatus: FieldChoice {}
extension ReturnStatus: FieldChoice {}
extension FulfillmentType: FieldChoice {}
