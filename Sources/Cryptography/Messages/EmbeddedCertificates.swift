// SPDX-License-Identifier: Apache-2.0

/// The certificates in a signature: one that can't be read is no reason to look at none.
struct EmbeddedCertificates {
    private(set) var readable: [Certificate] = []
    private(set) var unreadable: [CMSSignedData.UnreadableCertificate] = []

    /// Reads the next one.
    mutating func add(_ read: () throws(CryptographyError) -> Certificate) {
        do throws(CryptographyError) {
            readable.append(try read())
        } catch {
            let number = readable.count + unreadable.count + 1
            unreadable.append(CMSSignedData.UnreadableCertificate(number: number, reason: error.message))
        }
    }
}
