/// The shape of device tokens. Whether one is alive, only its gateway knows.
package enum DeviceToken {
    /// APNs: 64 to 512 hex digits, an even number (facts: 64 today, up to 200 announced). FCM: 32 to 4,096 of
    /// `[A-Za-z0-9_:.-]`.
    package static func normalized(_ token: String, for gateway: GatewayKind) -> String? {
        switch gateway {
        case .apns:
            let count = token.utf8.count
            guard (64...512).contains(count), count.isMultiple(of: 2), token.utf8.allSatisfy(isHexDigit)
            else {
                return nil
            }
            return token.utf8.contains(where: isUpperCase) ? token.lowercased() : token
        case .fcm:
            guard (shortest...4096).contains(token.utf8.count), token.utf8.allSatisfy(isFCMCharacter) else {
                return nil
            }
            return token
        }
    }

    /// Whether a text could hold a token: as many characters of a token's alphabet in a row as the shortest has.
    package static func couldBe(in text: String) -> Bool {
        var run = 0
        for byte in text.utf8 {
            run = isFCMCharacter(byte) ? run + 1 : 0
            if run == shortest { return true }
        }
        return false
    }

    private static let shortest = 32

    private static func isUpperCase(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private static func isFCMCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "."),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
