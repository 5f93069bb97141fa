// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Compares what the customer is shown: do items, summary lines and total agree? Wallet does not mind, customers do, so a
/// difference is a warning.
///
/// When the summary lines add up to the total, the first of them is the subtotal of the items; otherwise items and summary
/// lines together make the total. A price is that of one unit. Nothing is compared when anything is missing or unreadable,
/// or when currencies differ. Goods by weight are rounded: each product with more digits than the currency may be off by one
/// unit of its last digit.
///
/// Receipts also repeat: the last line may be the total once more, and a line may tell what is in the prices already
/// ("Incl. tax"). So there is no warning when some of the lines make up the difference between items and total.
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
        guard let payment = order["payment"]?.objectValue, let total = Money(payment["total"]) else { return }
        let digits = Currency.minorUnits(of: total.currency) ?? 2
        var amounts: [DecimalAmount] = []
        var lines: [DecimalAmount] = []
        var rounded = 0
        for item in order["lineItems"]?.arrayValue ?? [] {
            guard let money = Money(item["price"]), money.currency == total.currency,
                let quantity = item["quantity"].flatMap({ DecimalAmount($0) }), !quantity.isNegative,
                let product = money.amount.multiplied(by: quantity)
            else { return }
            if product.fractionDigits > digits { rounded += 1 }
            amounts.append(product)
        }
        for item in payment["summaryItems"]?.arrayValue ?? [] {
            guard let money = Money(item["value"]), money.currency == total.currency else { return }
            lines.append(money.amount)
        }
        guard !amounts.isEmpty, let itemSum = sum(amounts), let lineSum = sum(lines) else { return }
        let slack = DecimalAmount(unit: digits, count: rounded)
        let reached = Self.reachable(itemSum, lines, lineSum)
        if reached.contains(where: { $0.isWithin(slack, of: total.amount) }) { return }
        let repeatsTotal = lines.count > 1 && lines.last == total.amount && lineSum == total.amount.adding(total.amount)
        if let subtotal = lines.first, lineSum == total.amount || repeatsTotal {
            if !subtotal.isWithin(slack, of: itemSum) {
                note(
                    ["payment", "summaryItems", "0", "value", "amount"],
                    "The items add up to \(itemSum), the first summary line says \(subtotal)."
                )
            }
        } else if let (what, sum) = Self.counted(itemSum, lines, lineSum, slack) {
            note(["payment", "total", "amount"], "\(what) \(sum), the total says \(total.amount).")
        }
    }

    /// What a customer would add up, who doesn't count a subtotal with the items that it is of, and the sum of it.
    private static func counted(
        _ items: DecimalAmount,
        _ lines: [DecimalAmount],
        _ lineSum: DecimalAmount,
        _ slack: DecimalAmount
    ) -> (words: String, sum: DecimalAmount)? {
        guard let first = lines.first, let last = lines.last else { return ("The items add up to", items) }
        guard first.isWithin(slack, of: items) else {
            return items.adding(lineSum).map { ("Items and summary lines add up to", $0) }
        }
        if lines.count == 1 { return ("The summary line says", first) }
        // The last line may be a total already.
        let repeatsTotal = lineSum == last.adding(last)
        return ("The summary lines add up to", repeatsTotal ? last : lineSum)
    }

    /// What the items come to with some of the lines: with any choice of a few, with none, all, all but one or one of many.
    private static func reachable(
        _ items: DecimalAmount,
        _ lines: [DecimalAmount],
        _ lineSum: DecimalAmount
    ) -> [DecimalAmount] {
        var sums = [items]
        if lines.count <= 12 {
            for line in lines { sums += sums.compactMap { $0.adding(line) } }
            return sums
        }
        guard let all = items.adding(lineSum) else { return sums }
        sums.append(all)
        for line in lines { sums += [items.adding(line), all.adding(line.negated)].compactMap(\.self) }
        return sums
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
                fix: "Check prices (of one unit each), quantities, summary lines (discounts are negative) and total."
            )
        )
    }
}
