// SPDX-License-Identifier: Apache-2.0

import CLibZip

/// Unpacks a deflated entry with libzip.
///
/// libzip never sees the archive: it is given an archive of the one entry, with headers made from what our own scan
/// checked, so there are no two readings of the same bytes. The compressed data isn't copied.
enum Inflater {
    /// At most `entry.size` bytes, plus one where the data holds more than that.
    ///
    /// - Throws: `.badData` where the data can't be unpacked, `.badChecksum`, `.headerMismatch` for another size.
    static func inflate(_ entry: ZipEntry, in archive: [UInt8]) throws(ZipError) -> [UInt8] {
        let name: [UInt8] = [0x65]
        let common = ZipRecord.Common(
            flags: 0,
            method: ZipRecord.deflate,
            time: .fixed,
            crc32: entry.crc32,
            compressedSize: UInt32(entry.compressedSize),
            size: UInt32(entry.size),
            nameLength: UInt16(name.count)
        )
        let front = ZipRecord.local(common) + name
        let record = ZipRecord.directory(common, offset: 0) + name
        let back =
            record
            + ZipRecord.end(
                entries: 1,
                directorySize: UInt32(record.count),
                directoryOffset: UInt32(front.count + entry.compressedSize)
            )
        let outcome = unsafe front.withUnsafeBufferPointer { front in
            unsafe archive.withUnsafeBufferPointer { archive in
                unsafe back.withUnsafeBufferPointer { back in
                    let data = unsafe UnsafeBufferPointer(rebasing: archive[entry.data])
                    return unsafe unpack([front, data, back], size: entry.size)
                }
            }
        }
        switch outcome {
        case .bytes(let bytes): return bytes
        case .failure(let code, let message): throw ZipError(code, entry: entry.name, message)
        }
    }

    private enum Outcome {
        case bytes([UInt8])
        case failure(ZipError.Code, String)
    }

    /// Opens the archive that the parts make up and reads its entry, never more than `size + 1` bytes.
    private static func unpack(_ parts: [UnsafeBufferPointer<UInt8>], size: Int) -> Outcome {
        var error = unsafe zip_error_t()
        unsafe zip_error_init(&error)
        defer { unsafe zip_error_fini(&error) }
        var fragments = unsafe parts.map {
            unsafe zip_buffer_fragment_t(data: UnsafeMutablePointer(mutating: $0.baseAddress), length: UInt64($0.count))
        }
        let source = unsafe zip_source_buffer_fragment_create(&fragments, UInt64(fragments.count), 0, &error)
        guard let source = unsafe source else { return unsafe .failure(.badData, text(&error)) }
        guard let archive = unsafe zip_open_from_source(source, ZIP_RDONLY, &error) else {
            unsafe zip_source_free(source)
            return unsafe .failure(.badData, text(&error))
        }
        defer { unsafe zip_discard(archive) }
        guard let file = unsafe zip_fopen_index(archive, 0, 0) else {
            return unsafe .failure(.badData, text(zip_get_error(archive)))
        }
        defer { unsafe zip_fclose(file) }
        var failure: Outcome?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size + 1) { buffer, count in
            while count <= size {
                let rest = unsafe buffer.baseAddress.map { unsafe $0 + count }
                let read = unsafe zip_fread(file, rest, UInt64(size + 1 - count))
                if read < 0 {
                    failure = unsafe outcome(zip_file_get_error(file))
                    break
                }
                if read == 0 { break }
                count += Int(read)
            }
        }
        return failure ?? .bytes(bytes)
    }

    private static func outcome(_ error: UnsafeMutablePointer<zip_error_t>?) -> Outcome {
        switch unsafe zip_error_code_zip(error) {
        case ZIP_ER_CRC: .failure(.badChecksum, "the data doesn't have the recorded checksum")
        case ZIP_ER_INCONS: .failure(.headerMismatch, "the data has another size than recorded")
        default: unsafe .failure(.badData, text(error))
        }
    }

    private static func text(_ error: UnsafeMutablePointer<zip_error_t>?) -> String {
        guard let text = unsafe zip_error_strerror(error) else { return "the data can't be unpacked" }
        return unsafe "the data can't be unpacked (\(String(cString: text)))"
    }
}
