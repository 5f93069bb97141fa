// SPDX-License-Identifier: Apache-2.0

public import OrderModel

extension PackageBuilder {
    /// Validates an order that was put together in code, holds it against its files, and builds the package.
    ///
    /// - Parameters:
    ///   - order: the order; the package holds its own `updatedAt`, `webServiceURL` and `authenticationToken`.
    ///   - files: images, receipts, labels and localized strings, in any order.
    ///   - signingTime: in seconds since 1970, moved up to where the chain is valid; nil for the order's `updatedAt`.
    ///   - options: how the order is judged.
    /// - Throws: `InvalidOrderError` with every finding when one of them is an error, be it about the order or about a
    ///   file that it names; else ``OrderPackageError`` as ``build(order:files:signingTime:)`` does.
    public func build(
        _ order: Order,
        files: [PackageFile] = [],
        signingTime: Int64? = nil,
        options: ValidationOptions = .init()
    ) throws -> OrderPackage {
        let document = try OrderDocument(order, options)
        // short: paths that a package can hold.
        var contents: [String: [UInt8]] = [:]
        for file in files { contents[file.path] = file.contents }
        let findings = FileCheck.check(document.json, files: contents)
        if findings.contains(where: \.isError) { throw InvalidOrderError(findings: findings) }
        return try build(
            document.packageForm(),
            of: document,
            files: files,
            signingTime: signingTime ?? document.updatedAt
        )
    }
}
