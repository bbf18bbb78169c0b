import Encodings
import Wire

/// A notification request as a frame, written once by the wire's own encoder. For each request only uid and device
/// token are changed, so that the load takes little of the core that it shares with the gateway.
struct RequestTemplate {
    private var frame: [UInt8]
    private let uid: Int
    private let token: Int

    /// About 550 bytes of payload at the gateway.
    static let message = "BisqMessageiOS|0123456789abcdef|" + String(repeating: "QUJD", count: 112)

    private static let uidMark = String(repeating: "u", count: 16)
    private static let tokenMark = String(repeating: "f", count: 64)

    /// - Parameter address: what stands before and behind the 64 digits of a device token.
    init(
        awaitsOutcome: Bool, platform: Platform = .ios,
        address: (before: String, behind: String) = ("", "")
    ) {
        var request = MobileNotificationRequest()
        request.uid = Self.uidMark
        request.platform = platform
        request.deviceToken = address.before + Self.tokenMark + address.behind
        request.message = Self.message
        if platform == .android {
            request.message = "BisqMessageAndroid|" + Self.message.dropFirst("BisqMessageiOS|".count)
        }
        request.isUrgent = true
        request.isMutableContent = true
        request.isContentAvailable = true
        request.awaitsOutcome = awaitsOutcome
        frame =
            Envelope(
                messageVersion: BisqNetwork.mainnet.messageVersion, message: .notificationRequest(request)
            ).frame
        uid = Self.position(of: Self.uidMark, in: frame)
        token = Self.position(of: Self.tokenMark, in: frame)
    }

    private static func position(of mark: String, in frame: [UInt8]) -> Int {
        let mark = Array(mark.utf8)
        guard let found = frame.indices.first(where: { frame[$0...].starts(with: mark) }) else {
            preconditionFailure("the encoder left out \(mark.count) bytes of the request")
        }
        return found
    }

    /// Appends the request with this number; numbers make uid and device token.
    mutating func append(_ number: UInt64, to bytes: inout [UInt8]) {
        writeHex(number, to: &frame, at: uid)
        for part in 0..<4 { writeHex(mixed(number &* 4 &+ UInt64(part)), to: &frame, at: token + 16 * part) }
        bytes.append(contentsOf: frame)
    }
}

/// 64 hex digits that belong to a number.
func deviceToken(_ number: UInt64) -> String {
    var digits = [UInt8](repeating: 0, count: 64)
    for part in 0..<4 { writeHex(mixed(number &* 4 &+ UInt64(part)), to: &digits, at: 16 * part) }
    return String(decoding: digits, as: UTF8.self)
}

/// The number in a uid of 16 hex digits.
func number(uid: String) -> UInt64? { UInt64(uid, radix: 16) }

private let hexDigits = Array("0123456789abcdef".utf8)

private func writeHex(_ value: UInt64, to bytes: inout [UInt8], at position: Int) {
    for index in 0..<16 { bytes[position + index] = hexDigits[Int(value >> UInt64(60 - 4 * index) & 15)] }
}

/// The mixing step of SplitMix64: no two numbers give the same.
private func mixed(_ number: UInt64) -> UInt64 {
    var value = number &+ 0x9E37_79B9_7F4A_7C15
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
}
