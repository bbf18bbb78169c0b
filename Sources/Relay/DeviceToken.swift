/// The shape of device tokens. Whether one is alive, only its gateway knows.
package enum DeviceToken {
    /// APNs: 64 to 512 hex digits, an even number; today an app's are 64 long, and Apple promises no length ("Sending
    /// notification requests to APNs"). FCM: 32 to 4,096 of `[A-Za-z0-9_:.-]`; Firebase promises none either.
    package static func normalized(_ token: String, for gateway: GatewayKind) -> String? {
        let bytes = token.utf8.span
        switch gateway {
        case .apns:
            guard (64...512).contains(bytes.count), bytes.count.isMultiple(of: 2),
                bytes.consists(of: ASCII.hexDigit)
            else { return nil }
            return bytes.consists { 1 ^ ASCII.upperCase($0) } ? token : token.lowercased()
        case .fcm:
            guard (shortest...4096).contains(bytes.count), bytes.consists(of: fcmCharacter) else {
                return nil
            }
            return token
        }
    }

    /// Whether a text could hold a token: as many characters of a token's alphabet in a row as the shortest has.
    package static func couldBe(in text: String) -> Bool {
        var run = 0
        for byte in text.utf8 {
            run = fcmCharacter(byte) == 1 ? run + 1 : 0
            if run == shortest { return true }
        }
        return false
    }

    private static let shortest = 32

    /// A token in a gateway's form that no phone has, for notifications that are to go all the way and reach nobody:
    /// the gateway refuses it, and only it can. For APNs it is the text `onionbell watch: no such device!` in hex.
    package static func ofNobody(at gateway: GatewayKind) -> String {
        switch gateway {
        case .apns: "6f6e696f6e62656c6c2077617463683a206e6f20737563682064657669636521"
        case .fcm: "onionbell-watch:no-such-device:0"
        }
    }

    static func isOfNobody(_ token: String) -> Bool {
        token == ofNobody(at: .apns) || token == ofNobody(at: .fcm)
    }

    private static func fcmCharacter(_ byte: UInt8) -> UInt8 {
        ASCII.letter(byte) | ASCII.digit(byte) | ASCII.equal(byte, "_") | ASCII.equal(byte, ":")
            | ASCII.equal(byte, ".") | ASCII.equal(byte, "-")
    }
}
