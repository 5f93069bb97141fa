// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// A point on the map. Apple: WalletOrders, `Location`.
    public static let location = ObjectDescription(
        "Location",
        fields: [
            .required("latitude", .number(-90...90)),
            .required("longitude", .number(-180...180)),
            .optional("altitude", .number(nil)),
        ],
        misnomers: ["lat": "latitude", "lon": "longitude", "lng": "longitude"]
    )
}
