// SPDX-License-Identifier: Apache-2.0

/// The rules that a name in an archive keeps, for writing and for reading.
package enum EntryName {
    /// The longest name, in UTF-8 bytes: what common file systems take for a single component.
    package static let maximumLength = 255

    /// Why a name is not safe to unpack on every system, or nil when it is.
    ///
    /// Safe means relative, without `.` and `..`, without empty components, backslashes, control characters and
    /// drive letters. A folder's trailing `/` is for the caller to judge, and is left out here.
    package static func fault(_ name: String) -> String? {
        if name.isEmpty { return "the name is empty" }
        if name.utf8.count > maximumLength { return "the name is longer than \(maximumLength) bytes" }
        var start = true
        var component = 0
        var onlyDots = true
        for byte in name.utf8 {
            switch byte {
            case 0x2F:
                if start { return "the name is absolute (starts with \"/\")" }
                if let fault = componentFault(component, onlyDots) { return fault }
                component = 0
                onlyDots = true
            case 0x5C: return "the name has a backslash, which some systems take for a path separator"
            case 0x00..<0x20, 0x7F: return "the name has a control character"
            case 0x3A where component == 1 && name.utf8.dropFirst().first == 0x3A:
                return "the name starts with a drive letter"
            default:
                component += 1
                if byte != 0x2E { onlyDots = false }
            }
            start = false
        }
        // A trailing slash has just closed its component and leaves an empty one, which marks a folder.
        return component == 0 ? nil : componentFault(component, onlyDots)
    }

    /// What is wrong with a file whose name is another one's folder.
    package static func alsoFolder(of inner: String) -> String {
        "the name is a file's here, and the folder of \"\(inner)\": only one of the two can be unpacked"
    }

    private static func componentFault(_ length: Int, _ onlyDots: Bool) -> String? {
        if length == 0 { return "the name has an empty component (\"//\")" }
        if onlyDots && length <= 2 {
            return length == 2 ? "the name has a \"..\" component" : "the name has a \".\" component"
        }
        return nil
    }
}
