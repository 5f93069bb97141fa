// SPDX-License-Identifier: Apache-2.0

import ExactJSON

extension OrderRules {
    /// A sum of money in the document that can be read.
    private struct Amount {
        let list: [String]
        let index: Int?
        let member: String
        let currency: String
        let amount: DecimalAmount

        /// Made when there is something to say: an order has thousands of amounts.
        var place: [String] { list + (index.map { [String($0)] } ?? []) + [member] }
    }

    mutating func checkMoney() {
        let amounts = readAmounts()
        checkPrecision(amounts)
        checkCurrencies(amounts)
        var sums = SumRule(order)
        sums.check()
        for finding in sums.findings { add(finding) }
    }

    private mutating func add(_ finding: Finding) {
        add(finding.severity, finding.code, finding.pointer?.tokens ?? [], finding.message, fix: finding.fix ?? "")
    }

    /// Every amount with a known currency; the total comes first.
    private func readAmounts() -> [Amount] {
        var found: [Amount] = []
        func take(_ value: JSONValue?, _ list: [String], _ index: Int?, _ member: String) {
            guard let value, let amount = value["amount"].flatMap({ DecimalAmount($0) }),
                let currency = value["currency"]?.stringValue, Currency.isKnown(currency)
            else { return }
            found.append(Amount(list: list, index: index, member: member, currency: currency, amount: amount))
        }
        func takeEach(_ list: JSONValue?, _ member: String, _ place: [String]) {
            for (index, element) in (list?.arrayValue ?? []).enumerated() {
                take(element[member], place, index, member)
            }
        }
        let payment = order["payment"]
        take(payment?["total"], ["payment"], nil, "total")
        takeEach(order["lineItems"], "price", ["lineItems"])
        takeEach(payment?["summaryItems"], "value", ["payment", "summaryItems"])
        takeEach(payment?["transactions"], "amount", ["payment", "transactions"])
        for list in ["fulfillments", "returns"] {
            for (place, object) in objects(list) {
                takeEach(object["lineItems"], "price", place + ["lineItems"])
            }
        }
        return found
    }

    /// Amounts with more digits than their currency has.
    private mutating func checkPrecision(_ amounts: [Amount]) {
        for money in amounts {
            guard let digits = Currency.minorUnits(of: money.currency), money.amount.fractionDigits > digits else {
                continue
            }
            add(
                .warning,
                "amount-precision",
                money.place + ["amount"],
                "\(money.amount) has more decimals than \(money.currency) has (\(digits)).",
                fix: "Round it to \(digits) decimals, as the customer was charged."
            )
        }
    }

    /// Each currency is told once, where it first stands.
    private mutating func checkCurrencies(_ amounts: [Amount]) {
        var seen: Set<String> = []
        // With a total in no known currency there is nothing to compare with.
        let total = order["payment"]?["total"]?["currency"]?.stringValue
        let reference = total.map { Currency.isKnown($0) ? $0 : nil } ?? amounts.first?.currency
        for money in amounts where seen.insert(money.currency).inserted {
            let place = money.place + ["currency"]
            checkUse(of: money.currency, place)
            guard let reference, !money.currency.isExactly(reference) else { continue }
            add(
                .warning,
                "mixed-currencies",
                place,
                "\(money.currency) differs from \(total == nil ? "the first item's" : "the total's") \(reference);"
                    + " Wallet converts nothing.",
                fix: "Use one currency in an order: the one that the customer pays in."
            )
        }
    }

    private mutating func checkUse(of currency: String, _ place: [String]) {
        if let month = Currency.withdrawal(of: currency) {
            // An order from when the currency was in use is right.
            if let created = date(order["createdAt"]), created.text.prefix(7) < month { return }
            add(
                .warning,
                "withdrawn-currency",
                place,
                "\(currency) was withdrawn from ISO 4217 in \(month).",
                fix: "Use the currency that replaced it, as the customer was charged."
            )
        } else if Currency.minorUnits(of: currency) == nil {
            add(
                .warning,
                "special-currency",
                place,
                "\(currency) stands for a metal, a unit of account, a test or no currency; nobody pays with it.",
                fix: "Use the currency that the customer pays in."
            )
        }
    }
}
