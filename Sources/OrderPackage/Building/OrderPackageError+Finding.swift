// SPDX-License-Identifier: Apache-2.0

import ExactJSON
public import OrderModel
import ZipFiles

extension OrderPackageError {
    /// The reason why a package wasn't built, in the form that every command gives out.
    public var finding: Finding {
        let (code, fix): (String, String) =
            switch self.code {
            case .tooLarge:
                ("package-too-large", "Use smaller images (300 by 300 pixels), receipts and labels.")
            case .tooManyFiles: ("zip-too-many-entries", ArchiveAdvice.fix(.tooManyEntries))
            case .badPath: ("zip-unsafe-path", "Name files as in logo.png and en.lproj/order.strings.")
            case .emptyFile: ("empty-file", ArchiveCheck.sentence(EmptyFile.cure(path ?? "")))
            case .duplicatePath: ("zip-duplicate-name", "Add each file once.")
            case .orderTypeMismatch:
                ("order-type-mismatch", "Sign with the certificate of this order type; upper and lower case count.")
            case .expired: ("certificate-expired", "Renew the certificate.")
            default: ("not-signed", "Mend what the message says, or sign with another identity.")
            }
        let message = ArchiveCheck.sentence(self.message)
        if self.code == .orderTypeMismatch {
            return Finding(
                severity: .error,
                code: code,
                pointer: .root.appending("orderTypeIdentifier"),
                message: message,
                fix: fix
            )
        }
        return Finding(severity: .error, code: code, path: path ?? ArchiveCheck.whole, message: message, fix: fix)
    }
}
