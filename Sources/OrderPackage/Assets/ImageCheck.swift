// SPDX-License-Identifier: Apache-2.0

import ExactJSON
import OrderModel

/// Holds an image against what Wallet does with it.
///
/// Apple: Human Interface Guidelines, "Wallet": logos and product images of 300 by 300 pixels with a background.
enum ImageCheck {
    /// The recommended side in pixels; `@2x` and `@3x` have two and three times as many.
    private static let recommendedSide = 300

    /// What is wrong with a file that is PNG or JPEG by content.
    static func findings(_ path: String, _ contents: [UInt8], _ use: FileUse) -> [Finding] {
        let image: ImageProperties
        do throws(ImageProperties.Fault) {
            image = try ImageProperties(contents)
        } catch {
            // Only a warning: the order itself can be shown, and nobody knows of a device that refuses it for that.
            return [
                Finding(
                    severity: .warning,
                    code: "image-damaged",
                    path: path,
                    message: "The image can't be shown: \(error.message) (byte \(error.offset)).",
                    fix: "Export the image again, or fetch it again whole."
                )
            ]
        }
        var findings: [Finding] = []
        if image.isForAppleOnly {
            findings.append(
                Finding(
                    severity: .note,
                    code: "image-apple-only",
                    path: path,
                    message: "The image is a PNG as Xcode writes it for iOS; other systems can't show it.",
                    fix: "Take the image as it was before Xcode copied it into an app."
                )
            )
        }
        // A platform's logo, a receipt or a label may have any shape.
        guard use == .logo || use == .image else { return findings }
        let sides = sides(path)
        if image.width != image.height || !sides.contains(image.width) {
            findings.append(
                Finding(
                    severity: .warning,
                    code: "image-size",
                    path: path,
                    message: "The image has \(image.width) by \(image.height) pixels; Apple recommends"
                        + " \(sides.lowerBound) by \(sides.lowerBound)\(sides.lowerBound == recommendedSide ? "" : " here").",
                    fix: "Use a square image of 300 pixels, 600 for @2x and 900 for @3x."
                )
            )
        }
        if !image.isOpaque {
            findings.append(
                Finding(
                    severity: .warning,
                    code: "image-transparent",
                    path: path,
                    message: "The image may have transparent pixels; Apple asks for a background.",
                    fix: "Export it without an alpha channel, on a background of its own."
                )
            )
        }
        return findings
    }

    /// The sides in pixels that an image may have by its name. One that stands for all resolutions may have the largest's.
    private static func sides(_ path: String) -> ClosedRange<Int> {
        let stem = path.utf8.lastIndex(of: UInt8(ascii: ".")).map { path[..<$0] } ?? path[...]
        let largest = 3 * recommendedSide
        if stem.endsExactly(with: "@3x") { return largest...largest }
        if stem.endsExactly(with: "@2x") { return 2 * recommendedSide...largest }
        return recommendedSide...largest
    }
}
