import CQREncode
import Glibc

/// Why a text has no QR code.
package enum QRCodeError: Error, Equatable, CustomStringConvertible {
    case empty
    /// The text is longer than the largest code holds at this level.
    case tooLong(bytes: Int, maximum: Int)
    case noMemory

    package var description: String {
        switch self {
        case .empty: "an empty text has no QR code"
        case .tooLong(let bytes, let maximum): "a text of \(bytes) bytes; a QR code holds \(maximum)"
        case .noMemory: "no memory for a QR code"
        }
    }
}

/// A text as a QR code.
package struct QRCode: Equatable, Sendable {
    /// How much of the code may be unreadable.
    package enum Level: Sendable {
        /// 7 %: the smallest code, good for screens.
        case low
        /// 15 %.
        case medium

        /// Bytes in a code of version 40 (ISO/IEC 18004, table 7).
        package var maximumBytes: Int {
            switch self {
            case .low: 2_953
            case .medium: 2_331
            }
        }

        fileprivate var value: QRecLevel {
            switch self {
            case .low: QR_ECLEVEL_L
            case .medium: QR_ECLEVEL_M
            }
        }
    }

    /// Light modules around the code, as the standard demands.
    package static let quietZone = 4

    /// Modules of one side, without the quiet zone: 21 to 177.
    package let width: Int
    /// Whether each module is dark, row by row.
    private let isDark: [Bool]

    package init(_ text: String, level: Level = .low) throws(QRCodeError) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty else { throw .empty }
        guard bytes.count <= level.maximumBytes else {
            throw .tooLong(bytes: bytes.count, maximum: level.maximumBytes)
        }
        // The code belongs to us, its module array to the code; QRcode_free frees both.
        guard let code = QRcode_encodeData(CInt(bytes.count), bytes, 0, level.value) else {
            throw errno == ENOMEM ? .noMemory : .tooLong(bytes: bytes.count, maximum: level.maximumBytes)
        }
        defer { QRcode_free(code) }
        width = Int(code.pointee.width)
        isDark = (0..<width * width).map { code.pointee.data[$0] & 1 == 1 }
    }

    /// Whether a module is dark; false also outside, in the quiet zone.
    package func isDark(row: Int, column: Int) -> Bool {
        guard (0..<width).contains(row), (0..<width).contains(column) else { return false }
        return isDark[row * width + column]
    }

    /// Returns lines of half blocks, two rows of modules in each, with the quiet zone.
    ///
    /// - Parameter coloured: sets black and white, so the code reads on any background; otherwise light modules are
    ///   drawn in the terminal's text colour, which suits a dark background.
    package func lines(coloured: Bool) -> [String] {
        let range = -Self.quietZone..<width + Self.quietZone
        return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
            let line = range.map { column in
                // Below the last row there is nothing to draw.
                let isLowerLight = row + 1 < range.upperBound && !isDark(row: row + 1, column: column)
                return switch (!isDark(row: row, column: column), isLowerLight) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }.joined()
            return coloured ? "\u{1b}[40;97m\(line)\u{1b}[0m" : line
        }
    }
}
