// SPDX-License-Identifier: Apache-2.0

extension ObjectDescription {
    /// A point on the map. Apple: WalletOrders, `Location`.
    public static let location = ObjectDescription(
        "Location",
        meaning: "A point on the map (WGS 84).",
        fields: [
            .required("latitude", .number(-90...90), "Degrees north of the equator."),
            .required("longitude", .number(-180...180), "Degrees east of Greenwich."),
            .optional("altitude", .number(nil), "Metres above sea level."),
        ],
        misnomers: ["lat": "latitude", "lon": "longitude", "lng": "longitude"]
    )
}
