// SPDX-License-Identifier: Apache-2.0

// Fuzzes the readers of PNG's and JPEG's headers. Compiled together with them into one module:
//   swiftc -sanitize=fuzzer,address -parse-as-library Sources/OrderPackage/Assets/{AssetFormat,ImageProperties,PNGHeader,JPEGHeader}.swift scripts/fuzzers/image.swift
#if canImport(OrderPackage)
    import OrderPackage
#endif

/// Reads any bytes, also behind the signatures of both formats, so that little of the time goes into guessing those.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzImage(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    for file in [bytes, png + bytes, png + [0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52] + bytes, [0xFF, 0xD8] + bytes] {
        do throws(ImageProperties.Fault) {
            let image = try ImageProperties(file)
            precondition((1...10_000).contains(image.width) && (1...10_000).contains(image.height), "an absurd size")
            precondition(AssetFormat(file)?.isImage == true, "a picture that is none")
        } catch {
            precondition(!error.message.isEmpty, "a fault without words")
            precondition(error.offset >= 0 && error.offset <= file.count + 8, "a fault outside the file")
        }
    }
    return 0
}
