// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Compares what the customer is shown: do items, summary lines and total agree? Wallet does not mind, customers do, so a
/// difference is a warning.
///
/// When the summary lines add up to the total, the first of them is the subtotal of the items; otherwise items and summary
/// lines together make the total. A price is that of one unit. Nothing is compared when anything is missing or unreadable,
/// or when currencies differ.
struct SumRule {
    private let order: JSONObject
    private(set) var findings: [Finding] = []

    init(_ order: JSONObject) { self.order = order }

    private struct Money {
        let amount: DecimalAmount
        let currency: String

        init?(_ value: JSONValue?) {
            guard let value, let amount = value["amount"].flatMap({ DecimalAmount($0) }),
                let currency = value["currency"]?.stringValue, Currency.isKnown(currency)
            else { return nil }
            self.amount = amount
            self.currency = currency
        }
    }

    mutating func check() {
        guard let payment = order["payment"]?.objectValue else { return checkPrecision() }
        checkPrecision()
        let items = order["lineItems"]?.arrayValue ?? []
        let summary = payment["summaryItems"]?.arrayValue ?? []
        guard let total = Money(payment["total"]) else { return }
        var amounts: [DecimalAmount] = []
        var lines: [DecimalAmount] = []
        for (index, item) in items.enumerated() {
            guard let price = item["price"], !price.isNull else { return }
            guard let money = Money(price) else { return }
            if money.currency != total.currency {
                return noteCurrency(money, total, ["lineItems", String(index), "price", "currency"])
            }
            guard let quantity = item["quantity"].flatMap({ DecimalAmount($0) }),
                let product = money.amount.multiplied(by: quantity)
            else { return }
            amounts.append(product)
        }
        for (index, item) in summary.enumerated() {
            guard let money = Money(item["value"]) else { return }
            if money.currency != total.currency {
                return noteCurrency(money, total, ["payment", "summaryItems", String(index), "value", "currency"])
            }
            lines.append(money.amount)
        }
        guard !amounts.isEmpty, let itemSum = sum(amounts), let lineSum = sum(lines) else { return }
        if let subtotal = lines.first, lineSum == total.amount {
            if subtotal != itemSum {
                note(
                    ["payment", "summaryItems", "0", "value", "amount"],
                    "The items add up to \(itemSum), the first summary line says \(subtotal)."
                )
            }
        } else if let all = itemSum.adding(lineSum), all != total.amount {
            let what = lines.isEmpty ? "The items add up" : "Items and summary lines add up"
            note(["payment", "total", "amount"], "\(what) to \(all), the total says \(total.amount).")
        }
    }

    private func sum(_ amounts: [DecimalAmount]) -> DecimalAmount? {
        amounts.reduce(DecimalAmount.zero as DecimalAmount?) { $0?.adding($1) }
    }

    private mutating func note(_ tokens: [String], _ message: String) {
        findings.append(
            Finding(
                severity: .warning,
                code: "sum-mismatch",
                pointer: JSONPointer(tokens: tokens),
                message: message,
                fix: "Check prices (of one unit each), quantities, summary lines and total."
            )
        )
    }

    private mutating func noteCurrency(_ money: Money, _ total: Money, _ tokens: [String]) {
        findings.append(
            Finding(
                severity: .warning,
                code: "mixed-currencies",
                pointer: JSONPointer(tokens: tokens),
                message: "\(money.currency) differs from the total's \(total.currency); Wallet converts nothing.",
                fix: "Use one currency in an order."
            )
        )
    }

    /// Amounts with more digits than their currency has.
    private mutating func checkPrecision() {
        var places: [([String], JSONValue?)] = [(["payment", "total"], order["payment"]?["total"])]
        for (index, item) in (order["payment"]?["summaryItems"]?.arrayValue ?? []).enumerated() {
            places.append((["payment", "summaryItems", String(index), "value"], item["value"]))
        }
        for (index, item) in (order["lineItems"]?.arrayValue ?? []).enumerated() {
            places.append((["lineItems", String(index), "price"], item["price"]))
        }
        for (tokens, value) in places {
            guard let money = Money(value), let digits = Currency.minorUnits(of: money.currency),
                money.amount.fractionDigits > digits
            else { continue }
            findings.append(
                Finding(
                    severity: .warning,
                    code: "amount-precision",
                    pointer: JSONPointer(tokens: tokens + ["amount"]),
                    message: "\(money.amount) has more decimals than \(money.currency) has (\(digits)).",
                    fix: "Round it as the customer was charged."
                )
            )
        }
    }
}
