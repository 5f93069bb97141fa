// SPDX-License-Identifier: Apache-2.0

import ExactJSON

/// Names of character sets in IANA's registry, as `Barcode.messageEncoding` wants them. Upper and lower case don't matter.
enum CharacterSetName {
    static func isKnown(_ name: String) -> Bool { names.contains(ExactKey(plain(name))) }

    /// The name in small letters; nothing for what can't be one, so that what follows compares short texts in ASCII.
    private static func plain(_ name: String) -> String {
        name.utf8.count <= 40 && name.utf8.allSatisfy { $0 < 0x80 } ? name.lowercased() : ""
    }

    /// The name that another spelling means: `utf8`, `latin-1`.
    static func suggestion(for name: String) -> String? {
        let bare = letters(plain(name))
        if bare.starts(with: "latin".utf8) || bare == Array("ascii".utf8) || bare == Array("ansi".utf8) {
            return "iso-8859-1"
        }
        if let index = commonLetters.firstIndex(of: bare) { return common[index] }
        var search = commonNames
        return search.find(name)
    }

    /// What is left of a plain name without its signs.
    private static func letters(_ name: String) -> [UInt8] {
        name.utf8.filter { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) }
    }

    /// The first character of a text that the set lacks; nil also for sets whose characters are not known here.
    static func firstUnencodable(_ text: String, in name: String) -> Unicode.Scalar? {
        guard let limit = lastOfOneByte(name) else { return nil }
        return text.unicodeScalars.first { $0.value > limit }
    }

    /// The last character of a set whose characters are all one byte and have Unicode's numbers.
    private static func lastOfOneByte(_ name: String) -> UInt32? {
        switch plain(name) {
        case "us-ascii", "ascii", "iso646-us": 0x7F
        case "iso-8859-1", "iso_8859-1", "latin1", "l1", "cp819", "ibm819", "csisolatin1": 0xFF
        default: nil
        }
    }

    /// How many bytes a text has in a set; nil for sets that are not known here well enough.
    static func byteCount(_ text: String, in name: String) -> Int? {
        switch plain(name) {
        case "utf-8", "csutf8": return text.utf8.count
        case "utf-16", "utf-16be", "utf-16le": return text.utf16.count * 2
        case let name where name.hasPrefix("iso-8859-") || name.hasPrefix("windows-125") || name.hasPrefix("koi8-"):
            return text.unicodeScalars.count
        case let name: return lastOfOneByte(name) == nil ? nil : text.unicodeScalars.count
        }
    }

    private static let common = [
        "iso-8859-1", "utf-8", "us-ascii", "utf-16", "windows-1252", "shift_jis", "iso-8859-15", "iso-8859-2",
        "windows-1250", "windows-1251", "gb18030", "gbk", "big5", "euc-jp", "euc-kr", "koi8-r",
    ]
    private static let commonLetters = common.map(letters)
    private static let commonNames = NearMiss(common)

    /// The registry's preferred names and the other ones in common use.
    private static let names = Set(
        exactly: """
            us-ascii ascii iso646-us utf-8 csutf8 utf-7 utf-16 utf-16be utf-16le utf-32 utf-32be utf-32le cesu-8
            iso-8859-1 iso_8859-1 latin1 l1 cp819 ibm819 csisolatin1 iso-8859-2 iso_8859-2 latin2 l2 iso-8859-3 iso_8859-3
            latin3 l3 iso-8859-4 iso_8859-4 latin4 l4 iso-8859-5 iso_8859-5 cyrillic iso-8859-6 iso_8859-6 arabic
            iso-8859-7 iso_8859-7 greek iso-8859-8 iso_8859-8 hebrew iso-8859-9 iso_8859-9 latin5 l5 iso-8859-10
            iso_8859-10 latin6 l6 iso-8859-11 tis-620 iso-8859-13 iso-8859-14 iso_8859-14 latin8 l8 iso-8859-15
            iso_8859-15 latin-9 iso-8859-16 iso_8859-16 latin10 l10 windows-874 windows-1250 windows-1251 windows-1252
            windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 windows-31j csshiftjis
            shift_jis ms_kanji euc-jp iso-2022-jp iso-2022-jp-2 iso-2022-kr iso-2022-cn euc-kr ks_c_5601-1987 gb2312 gbk
            cp936 ms936 gb18030 hz-gb-2312 big5 big5-hkscs euc-tw koi8-r koi8-u macintosh mac ibm437 cp437 ibm850 cp850
            ibm852 cp852 ibm855 ibm857 ibm860 ibm861 ibm862 ibm863 ibm864 ibm865 ibm866 cp866 ibm869 ibm00858 viscii
            """
            .split(whereSeparator: \.isWhitespace).map(String.init)
    )
}
