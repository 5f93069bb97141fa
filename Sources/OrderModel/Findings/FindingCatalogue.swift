// SPDX-License-Identifier: Apache-2.0

/// What each code of a finding means: the one list that documentation is made from.
public enum FindingCatalogue {
    /// A code and its meaning in one line.
    public struct Entry: Sendable, Hashable {
        /// The code in kebab-case.
        public let code: String
        /// What it means.
        public let meaning: String
    }

    /// The meaning of a code that a check of this module gives out.
    public static func meaning(of code: String) -> String? { entries.first { $0.code == code }?.meaning }

    /// All codes of this module, in alphabetical order.
    public static let entries: [Entry] = [
        ("amount-precision", "An amount has more decimals than its currency."),
        ("bad-amount", "An amount is no plain decimal number."),
        ("bad-country", "A country code does not have two letters."),
        ("bad-date", "A date and time is not RFC 3339 with seconds and zone."),
        ("bad-duration", "A duration is not ISO 8601 in whole units."),
        ("bad-file-name", "A file name can't stand in a package."),
        ("bad-identifier", "An identifier is empty, too long, or holds forbidden characters."),
        ("bad-number", "A number has too many digits."),
        ("bad-token", "An authentication token can't travel in a header."),
        ("bad-url", "A URL has no scheme or host, or holds blanks."),
        ("barcode-characters", "A barcode's message has characters that its encoding or format lacks."),
        ("barcode-length", "A barcode's message is empty, or longer than its format holds."),
        ("completed-too-early", "The order is completed though a fulfillment is still on its way."),
        ("countdown-without-deadline", "displayCountdown is on without a returnDeadline."),
        ("created-in-future", "createdAt is more than 10 minutes ahead of the server's clock."),
        ("date-out-of-range", "A date lies outside the years 0 to 9999 in UTC."),
        ("dates-out-of-order", "A date is more than a day before one that comes first."),
        ("duplicate-identifier", "Two fulfillments or returns have one identifier."),
        ("file-in-folder", "A file is named with its language folder."),
        ("file-missing", "The order names a file that is not there."),
        ("file-unused", "Nothing in the order names a file that is there."),
        ("filled-in", "A value was ignored, because the service writes that member itself."),
        ("findings-cut-off", "There is more to find than is listed."),
        ("fixed-member", "An event is to change a member that events can't change."),
        ("fractional-seconds", "A date has fractions of a second; packages get whole seconds."),
        ("identifier-not-url-safe", "An order identifier has to be escaped in URLs."),
        ("identifier-too-long", "An identifier has more than 255 bytes."),
        ("insecure-link", "A link for the customer is http instead of https."),
        ("insecure-url", "The web service URL is not https."),
        ("item-not-ordered", "A fulfillment or return lists an item that the order does not have."),
        ("json-syntax", "The text is no JSON; line and column say where."),
        ("locale-case", "A localization folder's name is not written like zh-Hans-CN."),
        ("localized-file-missing", "A language lacks an image that others have."),
        ("localized-file-overridden", "A localized image lies at the top level too, and that one is shown."),
        ("localized-resolutions-differ", "Languages have an image in different numbers of resolutions."),
        ("missing-member", "A member that has to be there is missing; the pointer is its own."),
        ("mixed-currencies", "Amounts of one order are in different currencies."),
        ("more-than-ordered", "Fulfillments or returns list more of an item than was ordered."),
        ("names-differ-in-case", "Two file names differ in upper and lower case only."),
        ("newer-than-target", "A member is only known to newer systems than the target."),
        ("no-default-language", "Keys that are no texts are not translated into English."),
        ("nothing-to-change", "An event names a thing and no change."),
        ("null-member", "A member is null, which counts as absent."),
        ("number-out-of-range", "A number is smaller or larger than it may be."),
        ("numeric-string", "A number came as text; packages get the number."),
        ("occurred-in-future", "An event is more than 10 minutes ahead of the server's clock."),
        ("required-member-removed", "A change would remove a member that has to be there."),
        ("return-info-without-goods", "A cancelled order tells how to return its goods."),
        ("schema-version-2", "schemaVersion 2 is only read by iOS 17 and later."),
        ("several-subjects", "An event is about more than one thing."),
        ("special-currency", "A currency code stands for a metal, a unit of account, a test or nothing."),
        ("status-behind-date", "A date tells what the status denies."),
        ("string-key", "A text is no key of order.strings though others of its kind are."),
        ("strings-duplicate-key", "A strings file has a key twice."),
        ("strings-encoding", "A strings file is neither UTF-8 nor UTF-16."),
        ("strings-key-unused", "A key of order.strings is no text of the order."),
        ("strings-keys-differ", "A language lacks keys that others have."),
        ("strings-limit", "A strings file is too large."),
        ("strings-syntax", "A strings file is broken at the given line."),
        ("strings-unterminated", "A text or comment in a strings file is not closed."),
        ("sum-mismatch", "Items, summary lines and total do not add up."),
        ("text-too-long", "A text is longer than a phone shows well."),
        ("token-too-short", "An authentication token has fewer than 16 characters."),
        ("tracking-without-carrier", "A parcel has a tracking link but neither carrier nor number."),
        ("tracking-without-link", "A parcel has a tracking number but no link."),
        ("unexplained-status", "An issue or a cancellation has no statusDescription."),
        ("unknown-country", "A country code is not assigned in ISO 3166."),
        ("unknown-currency", "A currency code is not in ISO 4217."),
        ("unknown-encoding", "A barcode's messageEncoding is no character set of IANA's list."),
        ("unknown-locale", "A localization folder names a language, script or region that does not exist."),
        ("unknown-member", "An object has no member of this name."),
        ("unknown-value", "A value is not one of those that Wallet knows."),
        ("unusual-order-type", "An order type identifier does not begin with \"order.\"."),
        ("updated-before-created", "updatedAt is earlier than createdAt."),
        ("updated-without-change", "updatedAt differs from createdAt in the first revision."),
        ("web-service-url-version", "The web service URL ends in /v1, which devices append."),
        ("window-without-start", "A time window has a length but no start."),
        ("withdrawn-country", "A country code was withdrawn from ISO 3166."),
        ("withdrawn-currency", "A currency code was withdrawn from ISO 4217 before the order."),
        ("wrong-type", "A value has another JSON type than it should."),
    ].map { Entry(code: $0.0, meaning: $0.1) }
}
