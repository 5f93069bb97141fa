// SPDX-License-Identifier: Apache-2.0

/// The orders that the demo plays, as a checkout would send them.
enum DemoOrders {
    /// An order of two parcels.
    static let shipping = #"""
        {
            "orderTypeIdentifier": "order.com.example.shop",
            "orderNumber": "1001",
            "orderType": "ecommerce",
            "status": "open",
            "orderManagementURL": "https://www.example.com/orders/1001",
            "merchant": {
                "merchantIdentifier": "merchant.com.example.shop",
                "displayName": "Example Shop",
                "url": "https://www.example.com/",
                "logo": "logo.png",
                "contactURL": "https://www.example.com/contact"
            },
            "customer": {
                "givenName": "Ada",
                "familyName": "Example"
            },
            "lineItems": [
                {
                    "title": "Bread knife",
                    "quantity": 1,
                    "price": {
                        "amount": "24.50",
                        "currency": "EUR"
                    },
                    "image": "product.jpg",
                    "sku": "KN-1"
                },
                {
                    "title": "Cutting board",
                    "quantity": 2,
                    "price": {
                        "amount": "19.99",
                        "currency": "EUR"
                    },
                    "image": "product.jpg",
                    "sku": "CB-2"
                }
            ],
            "payment": {
                "status": "paid",
                "total": {
                    "amount": "69.43",
                    "currency": "EUR"
                },
                "summaryItems": [
                    {
                        "label": "Subtotal",
                        "value": {
                            "amount": "64.48",
                            "currency": "EUR"
                        }
                    },
                    {
                        "label": "Shipping",
                        "value": {
                            "amount": "4.95",
                            "currency": "EUR"
                        }
                    }
                ]
            },
            "fulfillments": [
                {
                    "fulfillmentType": "shipping",
                    "fulfillmentIdentifier": "parcel-1",
                    "status": "processing",
                    "carrier": "Example Post",
                    "lineItems": [
                        {
                            "title": "Bread knife",
                            "quantity": 1,
                            "image": "product.jpg"
                        }
                    ]
                },
                {
                    "fulfillmentType": "shipping",
                    "fulfillmentIdentifier": "parcel-2",
                    "status": "processing",
                    "carrier": "Example Post",
                    "lineItems": [
                        {
                            "title": "Cutting board",
                            "quantity": 2,
                            "image": "product.jpg"
                        }
                    ]
                }
            ]
        }
        """#

    /// The order of a bakery, to be picked up: the public sample of Daki2309/wallet-order-generator (MIT; after the example
    /// package of Apple's WWDC22 session), with names and addresses replaced, reset to open and processing. Its amounts are
    /// numbers, as real orders have them, and its subtotal does not match its items: that is a warning, not an error.
    static let bakery = #"""
        {
            "schemaVersion": 1,
            "orderTypeIdentifier": "order.com.example.shop",
            "orderType": "ecommerce",
            "orderNumber": "BA050796",
            "createdAt": "2022-06-02T12:30:00Z",
            "status": "open",
            "merchant": {
                "displayName": "Bakery",
                "merchantIdentifier": "com.example.store",
                "logo": "logo.png",
                "url": "https://www.example.com/"
            },
            "payment": {
                "status": "paid",
                "total": {
                    "amount": 28.8,
                    "currency": "USD"
                },
                "summaryItems": [
                    {
                        "label": "Subtotal",
                        "value": {
                            "amount": 24,
                            "currency": "USD"
                        }
                    },
                    {
                        "label": "Tax",
                        "value": {
                            "amount": 4.8,
                            "currency": "USD"
                        }
                    }
                ],
                "paymentMethods": [
                    "•••• 1234"
                ]
            },
            "lineItems": [
                {
                    "image": "pastry.png",
                    "price": {
                        "amount": 0.8,
                        "currency": "USD"
                    },
                    "quantity": 10,
                    "title": "Pain au Chocolate"
                },
                {
                    "image": "cheesecake.png",
                    "price": {
                        "amount": 1.2,
                        "currency": "USD"
                    },
                    "quantity": 5,
                    "subtitle": "NutWarning",
                    "title": "CheesecakeSlice"
                },
                {
                    "image": "spongecake.png",
                    "price": {
                        "amount": 1.2,
                        "currency": "USD"
                    },
                    "quantity": 10,
                    "subtitle": "NutWarning",
                    "title": "SpongeCakeSlice"
                }
            ],
            "fulfillments": [
                {
                    "status": "processing",
                    "fulfillmentIdentifier": "pickup.1",
                    "fulfillmentType": "pickup",
                    "displayName": "Bakery",
                    "lineItems": [
                        {
                            "image": "pastry.png",
                            "price": {
                                "amount": 0.8,
                                "currency": "USD"
                            },
                            "quantity": 10,
                            "title": "Pain au Chocolate"
                        },
                        {
                            "image": "cheesecake.png",
                            "price": {
                                "amount": 1.2,
                                "currency": "USD"
                            },
                            "quantity": 5,
                            "subtitle": "NutWarning",
                            "title": "CheesecakeSlice"
                        },
                        {
                            "image": "spongecake.png",
                            "price": {
                                "amount": 1.2,
                                "currency": "USD"
                            },
                            "quantity": 10,
                            "subtitle": "NutWarning",
                            "title": "SpongeCakeSlice"
                        }
                    ],
                    "address": {
                        "addressLines": [
                            "1 Example Street"
                        ],
                        "locality": "Exampletown",
                        "administrativeArea": "Example State",
                        "postalCode": "00000",
                        "countryCode": "US"
                    },
                    "notes": "1. We'll let you know when your order is ready for pickup.\n\n2. Once the order is ready, make sure that you bring your photo ID and have your barcode before heading to the pickup location.",
                    "pickupAt": "2022-06-09T17:00:00Z",
                    "pickupWindowDuration": "P0Y0M0DT0H30M0S",
                    "barcode": {
                        "altText": "51039000000",
                        "format": "code128",
                        "message": "51039000000",
                        "messageEncoding": "iso-8859-1"
                    }
                }
            ],
            "orderManagementURL": "https://www.example.com/"
        }
        """#

    /// The bakery's texts, from the same source: UTF-8 though they are not ASCII.
    static let bakeryGerman = #"""
        "Bakery" = "Bäckerei";
        "NutWarning" = "Kann Nüsse enthalten";
        "CheeseCakeSlice" = "Käsekuchen Stück";
        "SpongeCakeSlice" = "Schwammkuchen Stück";
        """#

    /// The same in English.
    static let bakeryEnglish = #"""
        "Bakery" = "Bakery";
        "NutWarning" = "May contain nuts";
        "CheeseCakeSlice" = "Cheesecake Slice";
        "SpongeCakeSlice" = "Sponge Cake Slice";
        """#
}
