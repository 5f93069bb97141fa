// SPDX-License-Identifier: Apache-2.0

/// The parameters of one execution, as libpq takes them: bytes, lengths and formats.
///
/// Small values share one buffer; large ones keep the storage they came in, so that an image is not copied on its way.
internal struct EncodedParameters: Sendable {
    /// Where a parameter's bytes are.
    enum Slot: Sendable, Equatable {
        case null
        /// In `buffer`.
        case inline(offset: Int, count: Int)
        /// In storage of its own.
        case separate([UInt8])
    }

    /// The format codes of the protocol.
    enum Format: Int32, Sendable { case text = 0, binary = 1 }

    private(set) var buffer: [UInt8] = []
    private(set) var slots: [Slot] = []
    private(set) var formats: [Int32] = []

    /// From here on, a copy costs more than a slot of its own.
    static let separateFrom = 4_096

    var count: Int { self.slots.count }

    /// Writes values for parameters of the given types.
    ///
    /// - Throws: `PostgresError(.encoding)` when the counts differ or a type can't take a value.
    init(_ values: [PostgresValue], types: [TypeIdentifier]) throws(PostgresError) {
        guard values.count == types.count else {
            throw PostgresError(
                .encoding,
                "the statement has \(types.count) parameters, \(values.count) values were given"
            )
        }
        self.slots.reserveCapacity(values.count)
        self.formats.reserveCapacity(values.count)
        for (index, value) in values.enumerated() {
            let start = self.buffer.count
            switch value {
            case .null:
                self.slots.append(.null)
                self.formats.append(Format.binary.rawValue)
                continue
            case .bytes(let bytes) where types[index] == .bytea && bytes.count >= EncodedParameters.separateFrom:
                self.slots.append(.separate(bytes))
                self.formats.append(Format.binary.rawValue)
                continue
            default: break
            }
            guard let format = BinaryWriter.write(value, as: types[index], to: &self.buffer) else {
                throw PostgresError(
                    .encoding,
                    "parameter $\(index + 1) is \(types[index].description) and can't take this \(value.kind)"
                )
            }
            self.slots.append(.inline(offset: start, count: self.buffer.count - start))
            self.formats.append(format.rawValue)
            // Text format is read up to a NUL, which is not part of the length.
            if format == .text { self.buffer.append(0) }
        }
    }

    /// Calls a closure with the arrays that `PQsendQueryPrepared` reads; none of them outlives the call.
    func withPointers<R>(
        _ body: (
            _ values: UnsafePointer<UnsafePointer<CChar>?>?,
            _ lengths: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) -> R
    ) -> R {
        if self.slots.isEmpty { return body(nil, nil, nil) }
        return unsafe self.buffer.withUnsafeBufferPointer { buffer in
            var values: [UnsafePointer<CChar>?] = unsafe []
            var lengths: [Int32] = []
            unsafe values.reserveCapacity(self.slots.count)
            lengths.reserveCapacity(self.slots.count)
            return unsafe self.pin(from: 0, buffer, &values, &lengths, body)
        }
    }

    /// Goes through the slots from `first` on; the storage of each large one stays pinned while the rest is gone through.
    private func pin<R>(
        from first: Int,
        _ buffer: UnsafeBufferPointer<UInt8>,
        _ values: inout [UnsafePointer<CChar>?],
        _ lengths: inout [Int32],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> R
    ) -> R {
        for index in first..<self.slots.count {
            switch self.slots[index] {
            case .null:
                unsafe values.append(nil)
                lengths.append(0)
            case .inline(let offset, let count):
                unsafe values.append(EncodedParameters.characters(buffer, offset))
                lengths.append(Int32(count))
            case .separate(let bytes):
                return unsafe bytes.withUnsafeBufferPointer { storage in
                    unsafe values.append(EncodedParameters.characters(storage, 0))
                    lengths.append(Int32(storage.count))
                    return unsafe self.pin(from: index + 1, buffer, &values, &lengths, body)
                }
            }
        }
        return unsafe body(values, lengths, self.formats)
    }

    /// A non-null pointer even for an empty buffer: libpq reads a null pointer as NULL.
    private static func characters(_ buffer: UnsafeBufferPointer<UInt8>, _ offset: Int) -> UnsafePointer<CChar>? {
        guard let base = buffer.baseAddress else { return unsafe EncodedParameters.emptyText }
        return unsafe UnsafeRawPointer(base + offset).assumingMemoryBound(to: CChar.self)
    }

    nonisolated(unsafe) private static let emptyText: UnsafePointer<CChar> = {
        let pointer = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        unsafe pointer.initialize(to: 0)
        return unsafe UnsafePointer(pointer)
    }()
}

/// PostgreSQL's binary formats, big-endian throughout.
internal enum BinaryWriter {
    /// Appends a value in the form of a type; nil when the type can't take it.
    static func write(
        _ value: PostgresValue,
        as type: TypeIdentifier,
        to buffer: inout [UInt8]
    ) -> EncodedParameters.Format? {
        switch value {
        case .null: return nil
        case .bool(let flag): return self.scalar(flag, type, &buffer)
        case .int(let number): return self.scalar(number, type, &buffer)
        case .int4(let number): return self.scalar(Int64(number), type, &buffer)
        case .double(let number): return self.scalar(number, type, &buffer)
        case .text(let text): return self.scalar(text, type, &buffer)
        case .bytes(let bytes): return self.scalar(bytes, type, &buffer)
        case .timestamp(let moment): return self.scalar(moment, type, &buffer)
        case .uuid(let text): return self.uuid(text, type, &buffer)
        case .interval(let microseconds): return self.interval(microseconds, type, &buffer)
        case .bools(let elements): return self.array(elements, type, &buffer) { self.scalar($0, $1, &$2) }
        case .ints(let elements): return self.array(elements, type, &buffer) { self.scalar($0, $1, &$2) }
        case .doubles(let elements): return self.array(elements, type, &buffer) { self.scalar($0, $1, &$2) }
        case .texts(let elements): return self.array(elements, type, &buffer) { self.scalar($0, $1, &$2) }
        case .bytesArray(let elements): return self.array(elements, type, &buffer) { self.scalar($0, $1, &$2) }
        case .timestamps(let elements): return self.array(elements, type, &buffer) { self.scalar($0, $1, &$2) }
        case .uuids(let elements): return self.array(elements, type, &buffer) { self.uuid($0, $1, &$2) }
        case .intervals(let elements): return self.array(elements, type, &buffer) { self.interval($0, $1, &$2) }
        }
    }

    /// One dimension, lower bound 1: dimensions, has-nulls flag, element type, length, bound, then length and bytes of each.
    private static func array<Element>(
        _ elements: [Element?],
        _ type: TypeIdentifier,
        _ buffer: inout [UInt8],
        _ write: (Element, TypeIdentifier, inout [UInt8]) -> EncodedParameters.Format?
    ) -> EncodedParameters.Format? {
        guard let elementType = type.element else { return nil }
        self.append(Int32(elements.isEmpty ? 0 : 1), &buffer)
        self.append(Int32(elements.contains { $0 == nil } ? 1 : 0), &buffer)
        self.append(elementType.rawValue, &buffer)
        if elements.isEmpty { return .binary }
        self.append(Int32(elements.count), &buffer)
        self.append(Int32(1), &buffer)
        for element in elements {
            guard let element else {
                self.append(Int32(-1), &buffer)
                continue
            }
            let lengthAt = buffer.count
            self.append(Int32(0), &buffer)
            guard write(element, elementType, &buffer) == .binary else { return nil }
            let length = UInt32(buffer.count - lengthAt - 4)
            for byte in 0..<4 { buffer[lengthAt + byte] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(byte))) }
        }
        return .binary
    }

    private static func scalar(
        _ flag: Bool,
        _ type: TypeIdentifier,
        _ buffer: inout [UInt8]
    ) -> EncodedParameters.Format? {
        guard type == .bool else { return nil }
        buffer.append(flag ? 1 : 0)
        return .binary
    }

    private static func scalar(
        _ number: Int64,
        _ type: TypeIdentifier,
        _ buffer: inout [UInt8]
    ) -> EncodedParameters.Format? {
        switch type {
        case .int8: self.append(number, &buffer)
        case .int4:
            guard let narrow = Int32(exactly: number) else { return nil }
            self.append(narrow, &buffer)
        case .int2:
            guard let narrow = Int16(exactly: number) else { return nil }
            self.append(narrow, &buffer)
        case .oid:
            guard let narrow = UInt32(exactly: number) else { return nil }
            self.append(narrow, &buffer)
        case .float8: self.append(Double(number).bitPattern, &buffer)
        case _ where type.isText || type == .bool || type == .bytea: return nil
        default:
            buffer += Array(String(number).utf8)
            return .text
        }
        return .binary
    }

    private static func scalar(
        _ number: Double,
        _ type: TypeIdentifier,
        _ buffer: inout [UInt8]
    ) -> EncodedParameters.Format? {
        switch type {
        case .float8: self.append(number.bitPattern, &buffer)
        case .float4: self.append(Float(number).bitPattern, &buffer)
        default: return nil
        }
        return .binary
    }

    private static func scalar(
        _ text: String,
        _ type: TypeIdentifier,
        _ buffer: inout [UInt8]
    ) -> EncodedParameters.Format? {
        switch type {
        case .bytea: return nil
        case .uuid: return self.uuid(text, type, &buffer)
        case .jsonb:
            // The version of the format stands before the text.
            buffer.append(1)
            buffer += text.utf8
            return .binary
        case _ where type.isText:
            buffer += text.utf8
            return .binary
        default:
            // Enumerations, domains over other types, numeric: the server reads them. It would stop at a NUL.
            guard !text.utf8.contains(0) else { return nil }
            buffer += text.utf8
            return .text
        }
    }

    private static func scalar(
        _ bytes: [UInt8],
        _ type: TypeIdentifier,
        _ buffer: inout [UInt8]
    ) -> EncodedParameters.Format? {
        guard type == .bytea else { return nil }
        buffer += bytes
        return .binary
    }

    private static func scalar(
        _ moment: Timestamp,
        _ type: TypeIdentifier,
        _ buffer: inout [UInt8]
    ) -> EncodedParameters.Format? {
        guard type == .timestamptz || type == .timestamp else { return nil }
        self.append(moment.wireValue, &buffer)
        return .binary
    }

    /// Microseconds, days, months; the latter two are calendar units and stay 0.
    private static func interval(
        _ microseconds: Int64,
        _ type: TypeIdentifier,
        _ buffer: inout [UInt8]
    ) -> EncodedParameters.Format? {
        guard type == .interval else { return nil }
        self.append(microseconds, &buffer)
        self.append(Int64(0), &buffer)
        return .binary
    }

    private static func uuid(
        _ text: String,
        _ type: TypeIdentifier,
        _ buffer: inout [UInt8]
    ) -> EncodedParameters.Format? {
        if type.isText {
            buffer += text.utf8
            return .binary
        }
        guard type == .uuid, text.utf8.count == 36 else { return nil }
        let start = buffer.count
        var high: UInt8?
        for (index, character) in text.utf8.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard character == 0x2d else { break }
                continue
            }
            let digit: UInt8
            switch character {
            case 0x30...0x39: digit = character - 0x30
            case 0x61...0x66: digit = character - 0x57
            case 0x41...0x46: digit = character - 0x37
            default:
                buffer.removeSubrange(start...)
                return nil
            }
            if let upper = high {
                buffer.append(upper << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        guard buffer.count - start == 16 else {
            buffer.removeSubrange(start...)
            return nil
        }
        return .binary
    }

    private static func append<Number: FixedWidthInteger>(_ number: Number, _ buffer: inout [UInt8]) {
        var shift = Number.bitWidth - 8
        while shift >= 0 {
            buffer.append(UInt8(truncatingIfNeeded: number >> Number(shift)))
            shift -= 8
        }
    }
}
