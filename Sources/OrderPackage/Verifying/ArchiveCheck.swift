// SPDX-License-Identifier: Apache-2.0

import Cryptography
import ExactJSON
import OrderModel
import ZipFiles

/// Reads the files of a package, and says what of the archive a device would trip over.
struct ArchiveCheck {
    private(set) var list = FindingList()
    /// Contents by path; what couldn't be unpacked is missing. Paths are told apart byte for byte: a signed name is no
    /// other name that only looks like it.
    private(set) var contents: [ExactKey: [UInt8]] = [:]
    /// SHA-256 of the contents.
    private(set) var digests: [ExactKey: SHA256Digest] = [:]
    /// The paths of all files, unpacked or not.
    private(set) var paths: Set<ExactKey> = []
    /// The contents, and nothing for what couldn't be unpacked: what is there but can't be read isn't missing.
    var presentFiles: [ExactKey: [UInt8]] {
        var present = contents
        for path in paths where present[path] == nil { present[path] = [] }
        return present
    }

    /// Whether there is a file at a path, unpacked or not.
    func has(_ path: String) -> Bool { paths.contains(ExactKey(path)) }

    /// The contents at a path; nil where there is no file, or it couldn't be unpacked.
    func contents(_ path: String) -> [UInt8]? { contents[ExactKey(path)] }
    /// All files, unpacked or not, in the order of the archive.
    private(set) var files: [VerificationReport.File] = []

    /// The whole archive, in findings that concern no single file.
    static let whole = "."

    /// As many entries and as high a ratio as any archive may have; of bytes twice what Apple allows, packed and unpacked:
    /// enough to say what is wrong with a package that is too large, and little enough to hold in memory twice. With the
    /// 50 MiB that an archive may have elsewhere, a program that verifies a file would take more than 64 MB.
    static let limits = ZipLimits(totalBytes: 10_000_000)

    /// Reads the bytes of a `.order` file.
    init(archive bytes: [UInt8]) {
        checkSize(bytes.count)
        let (reader, faults) = ZipReader.inspect(bytes, limits: Self.limits)
        for fault in faults { add(fault, path: fault.entry) }
        for notice in reader.notices {
            list.add(
                ArchiveAdvice.severity(notice.code),
                ArchiveAdvice.code(notice.code),
                notice.entry ?? Self.whole,
                Self.sentence(notice.message),
                fix: ArchiveAdvice.fix(notice.code)
            )
        }
        // Of an entry whose bytes are another's too, or whose sizes contradict each other, nobody knows what it holds.
        // A thousand of them could share their bytes, and cost a thousand unpackings.
        let doubtful = Set(
            faults.lazy.filter { $0.code == .overlap || $0.code == .headerMismatch }.compactMap(\.entry).map(
                ExactKey.init
            )
        )
        var room = Self.limits.totalBytes
        for entry in reader.entries where !entry.isFolder {
            // What it promises counts, whether or not it can be unpacked: the attempt costs as much.
            room -= min(entry.size, Self.limits.totalBytes + 1)
            let bytes = room >= 0 && !doubtful.contains(ExactKey(entry.name)) ? read(entry, reader) : nil
            add(path: entry.name, bytes, size: entry.size, compressedSize: entry.compressedSize)
        }
        if room >= 0, bytes.count < WalletPolicy.packageLimit { checkUnpackedSize(Self.limits.totalBytes - room) }
        checkPlaces()
    }

    /// Takes files as they were unpacked.
    ///
    /// - Parameters:
    ///   - unpacked: their paths and contents.
    ///   - unread: what is there, but was not read, with its size.
    ///   - findings: what there is to say about those.
    init(
        files unpacked: [(path: String, contents: [UInt8])],
        unread: [(path: String, size: Int)] = [],
        findings: [Finding] = []
    ) {
        for finding in findings { list.append(finding) }
        checkSize(unpacked.reduce(0) { $0 + $1.contents.count } + unread.reduce(0) { $0 + $1.size })
        for (path, bytes) in unpacked {
            // In an archive the reader has looked at the names.
            if let fault = EntryName.fault(path) {
                list.append(OrderPackageError(.badPath, path: path, fault).finding)
            }
            add(path: path, bytes, size: bytes.count, compressedSize: bytes.count)
        }
        for (path, size) in unread { add(path: path, nil, size: size, compressedSize: size) }
        checkFolders()
        checkPlaces()
    }

    private mutating func checkSize(_ count: Int) {
        guard count >= WalletPolicy.packageLimit else { return }
        list.error(
            "package-too-large",
            Self.whole,
            "The package has \(count) bytes; it must stay below 5 MB.",
            fix: "Use smaller images (300 by 300 pixels), receipts and labels."
        )
    }

    private mutating func checkUnpackedSize(_ count: Int) {
        guard count >= WalletPolicy.packageLimit else { return }
        list.warning(
            "unpacked-too-large",
            Self.whole,
            "The files have \(count) bytes when unpacked; devices limit that too, and may refuse 5 MB or more.",
            fix: "Use smaller images (300 by 300 pixels), receipts and labels."
        )
    }

    private mutating func read(_ entry: ZipEntry, _ reader: ZipReader) -> [UInt8]? {
        do throws(ZipError) {
            return try reader.contents(of: entry)
        } catch {
            // The scan has said this of the entry already, in the same words.
            let code = ArchiveAdvice.code(error.code)
            if !list.findings.contains(where: { $0.code == code && $0.path?.isExactly(entry.name) == true }) {
                add(error, path: entry.name)
            }
            return nil
        }
    }

    private mutating func add(_ fault: ZipError, path: String?) {
        list.error(
            ArchiveAdvice.code(fault.code),
            path ?? Self.whole,
            Self.sentence(fault.message),
            fix: ArchiveAdvice.fix(fault.code)
        )
    }

    private mutating func add(path: String, _ bytes: [UInt8]?, size: Int, compressedSize: Int) {
        // Of two files of a path, the first counts; the archive was found faulty already.
        let key = ExactKey(path)
        let isFirst = paths.insert(key).inserted
        let digest = bytes.map { SHA256.hash($0) }
        if isFirst {
            contents[key] = bytes
            digests[key] = digest
            checkReserved(path)
            if PackagePath.namesFolder(path) {
                list.append(OrderPackageError(.badPath, path: path, PackageFile.folderFault).finding)
            }
            // That a path leaves the package has been said, and ".." is no hidden file.
            if EntryName.fault(path) == nil, StrayFile.matches(path) { addStray(path) }
            if bytes?.isEmpty == true, !path.isExactly(SignatureCheck.path) {
                list.append(EmptyFile.finding(path))
            }
        }
        files.append(
            VerificationReport.File(path: path, size: size, compressedSize: compressedSize, digest: digest)
        )
    }

    private mutating func checkReserved(_ path: String) {
        guard let finding = ReservedName.finding(path) else { return }
        list.append(finding)
    }

    /// Of an archive the reader has told.
    private mutating func checkFolders() {
        var told: Set<ExactKey> = []
        for path in paths.sorted().map(\.text) where path.utf8.count <= EntryName.maximumLength {
            for slash in path.utf8.indices where path.utf8[slash] == 0x2F {
                let folder = String(path[..<slash])
                guard has(folder), told.insert(ExactKey(folder)).inserted else { continue }
                list.append(OrderPackageError(.badPath, path: folder, EntryName.alsoFolder(of: path)).finding)
            }
        }
    }

    private mutating func addStray(_ path: String) {
        // Apple: "Building a package": in neither the manifest nor the package. Devices don't unpack this one.
        let isRefused = StrayFile.isFinders(path)
        list.add(
            isRefused ? .error : .warning,
            "stray-file",
            path,
            "The file is a leftover of a system or an editor, and would travel to customers.",
            fix: "Leave it out of the package and the manifest."
        )
    }

    private mutating func checkPlaces() {
        guard !has("order.json"), !has(Manifest.path) else { return }
        let inner = files.first {
            $0.path.endsExactly(with: "/order.json") || $0.path.endsExactly(with: "/manifest.json")
        }?.path
        guard let inner, let slash = inner.utf8.lastIndex(of: UInt8(ascii: "/")) else { return }
        list.error(
            "enclosing-folder",
            String(inner[..<slash]),
            "The package's files lie in a folder instead of at the top level.",
            fix:
                "Zip the contents of the folder, not the folder: cd into it, and zip -r ../OUT.order with the file names."
        )
    }

    static func sentence(_ message: String) -> String {
        message.prefix(1).uppercased() + message.dropFirst() + "."
    }
}
