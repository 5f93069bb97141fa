// SPDX-License-Identifier: Apache-2.0

public import ExactJSON

extension Order {
    /// A point on the map (WGS 84), for precision beyond the address. Apple: WalletOrders, `Location`.
    ///
    /// The numbers keep the digits they were written with.
    public struct Location: Sendable, Hashable {
        /// In degrees north of the equator, -90 to 90.
        public var latitude: JSONNumber
        /// In degrees east of Greenwich, -180 to 180.
        public var longitude: JSONNumber
        /// In metres above sea level.
        public var altitude: JSONNumber?
        /// Members that Apple does not have; see ``Order/unknownFields``.
        public var unknownFields: JSONObject

        /// Puts a location together from exact numbers.
        public init(
            latitude: JSONNumber,
            longitude: JSONNumber,
            altitude: JSONNumber? = nil,
            unknownFields: JSONObject = JSONObject()
        ) {
            self.latitude = latitude
            self.longitude = longitude
            self.altitude = altitude
            self.unknownFields = unknownFields
        }

        /// Puts a location together from floating-point numbers, each written with the fewest digits that mean it.
        ///
        /// - Throws: ``InvalidOrderError`` with `number-out-of-range`, or with `wrong-type` for infinity and NaN.
        public init(latitude: Double, longitude: Double, altitude: Double? = nil) throws(InvalidOrderError) {
            self.init(
                latitude: try .checked(Self.number(latitude), as: .number(-90...90)),
                longitude: try .checked(Self.number(longitude), as: .number(-180...180)),
                altitude: try altitude.map { (altitude) throws(InvalidOrderError) -> JSONNumber in
                    try .checked(Self.number(altitude), as: .number(nil))
                }
            )
        }

        /// What is no number in JSON becomes a text, for the check to refuse.
        private static func number(_ value: Double) -> JSONValue {
            JSONNumber(value.description).map { .number($0) } ?? .string(value.description)
        }
    }
}

extension Order.Location: OrderObject {
    static var table: ObjectDescription { .location }

    init(reading fields: FieldReader) throws(FieldFault) {
        latitude = try fields.required("latitude")
        longitude = try fields.required("longitude")
        altitude = try fields.optional("altitude")
        unknownFields = fields.unknown
    }

    func write(to fields: inout FieldWriter) {
        fields.put("latitude", latitude)
        fields.put("longitude", longitude)
        fields.put("altitude", altitude)
    }
}
