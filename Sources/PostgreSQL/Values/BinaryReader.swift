// SPDX-License-Identifier: Apache-2.0

/// Reads PostgreSQL's binary formats out of a cell's bytes.
///
/// The bytes belong to a result that the caller keeps alive; nothing here keeps them.
internal enum BinaryReader {
    static func integer(_ bytes: RawSpan, _ type: TypeIdentifier) -> Int64? {
        switch type {
        case .int8: self.load(bytes, 0, Int64.self)
        case .int4: self.load(bytes, 0, Int32.self).map { Int64($0) }
        case .int2: self.load(bytes, 0, Int16.self).map { Int64($0) }
        case .oid: self.load(bytes, 0, UInt32.self).map { Int64($0) }
        default: nil
        }
    }

    static func boolean(_ bytes: RawSpan, _ type: TypeIdentifier) -> Bool? {
        type == .bool ? self.load(bytes, 0, UInt8.self).map { $0 != 0 } : nil
    }

    static func double(_ bytes: RawSpan, _ type: TypeIdentifier) -> Double? {
        switch type {
        case .float8: self.load(bytes, 0, UInt64.self).map { Double(bitPattern: $0) }
        case .float4: self.load(bytes, 0, UInt32.self).map { Double(Float(bitPattern: $0)) }
        default: nil
        }
    }

    static func text(_ bytes: RawSpan, _ type: TypeIdentifier) -> String? {
        switch type {
        case .jsonb: bytes.isEmpty ? nil : self.string(bytes.extracting(droppingFirst: 1))
        case .uuid: self.uuid(bytes, type)
        case .void: ""
        case _ where type.isText: self.string(bytes)
        default: nil
        }
    }

    static func bytes(_ bytes: RawSpan, _ type: TypeIdentifier) -> [UInt8]? {
        // A text's bytes are asked for where it goes out again as it is.
        type == .bytea || type.isText ? unsafe bytes.withUnsafeBytes { unsafe Array($0) } : nil
    }

    static func timestamp(_ bytes: RawSpan, _ type: TypeIdentifier) -> Timestamp? {
        guard type == .timestamptz || type == .timestamp else { return nil }
        return self.load(bytes, 0, Int64.self).map { Timestamp(wireValue: $0) }
    }

    /// Microseconds, a day as 24 hours; an interval with months has no such length.
    static func interval(_ bytes: RawSpan, _ type: TypeIdentifier) -> Int64? {
        guard type == .interval, bytes.byteCount == 16,
            let microseconds = self.load(bytes, 0, Int64.self),
            let days = self.load(bytes, 8, Int32.self),
            self.load(bytes, 12, Int32.self) == 0
        else { return nil }
        let (sum, overflow) = microseconds.addingReportingOverflow(Int64(days) * 86_400_000_000)
        return overflow ? nil : sum
    }

    static func uuid(_ bytes: RawSpan, _ type: TypeIdentifier) -> String? {
        guard type == .uuid, bytes.byteCount == 16 else { return nil }
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 { text.append(0x2d) }
            guard let byte = self.load(bytes, index, UInt8.self, exact: false) else { return nil }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The elements of a one-dimensional array, each read by `element`; nil when anything is not as it should be.
    static func array<Element>(
        _ bytes: RawSpan,
        _ type: TypeIdentifier,
        _ element: (RawSpan, TypeIdentifier) -> Element?
    ) -> [Element?]? {
        guard let elementType = type.element,
            let dimensions = self.load(bytes, 0, Int32.self, exact: false),
            self.load(bytes, 8, UInt32.self, exact: false) == elementType.rawValue
        else { return nil }
        if dimensions == 0 { return [] }
        guard dimensions == 1, let count = self.load(bytes, 12, Int32.self, exact: false), count >= 0,
            Int(count) <= bytes.byteCount / 4
        else { return nil }
        var elements: [Element?] = []
        elements.reserveCapacity(Int(count))
        var offset = 20
        for _ in 0..<count {
            guard let length = self.load(bytes, offset, Int32.self, exact: false) else { return nil }
            offset += 4
            if length == -1 {
                elements.append(nil)
                continue
            }
            guard length >= 0, offset + Int(length) <= bytes.byteCount else { return nil }
            let slice = bytes.extracting(offset..<offset + Int(length))
            guard let value = element(slice, elementType) else { return nil }
            elements.append(value)
            offset += Int(length)
        }
        return elements
    }

    private static func string(_ bytes: RawSpan) -> String {
        unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// A big-endian number; nil when the bytes end before it does.
    private static func load<Number: FixedWidthInteger & BitwiseCopyable>(
        _ bytes: RawSpan,
        _ offset: Int,
        _ type: Number.Type,
        exact: Bool = true
    ) -> Number? {
        let size = Number.bitWidth / 8
        guard offset >= 0, bytes.byteCount - offset >= size else { return nil }
        if exact, offset == 0, size != bytes.byteCount, bytes.byteCount <= 8 { return nil }
        return unsafe Number(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self))
    }
}
