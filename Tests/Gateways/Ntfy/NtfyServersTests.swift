import Relay
import Testing

@testable import Gateways

/// A household with two servers of ntfy's.
@Suite struct NtfyServersTests {
    private let home = "nt1:ntfy.home.example:bisq"

    private func validator(_ phones: [(app: String, address: String)], second: String = "home") -> Validator {
        let apps = [("public", "ntfy.sh"), (second, "ntfy.home.example")].map { name, server in
            App(
                name: name, service: NtfyService(server: server), isEnabled: true, targets: .phoneBook)
        }
        var validator = Validator(apps: apps, defaultIOS: "", defaultAndroid: "")
        validator.phoneBook = PhoneBook(
            phones.enumerated().map { index, phone in
                PhoneBook.Phone(
                    number: Int64(index), name: "me\(index)", platform: .android, app: phone.app,
                    deviceToken: DeviceToken(phone.address))
            })
        return validator
    }

    private func way(_ validator: Validator, _ address: String, naming app: String = "") -> String {
        let submission = Submission(platform: .android, app: app, deviceToken: address, message: "")
        do throws(Reason) {
            let (recipient, _) = try validator.recipient(of: submission)
            return "\(recipient.lane.app) \(recipient.deviceToken.text)"
        } catch {
            return error.code
        }
    }

    @Test func anAddressMayNameItsServer() {
        let both = validator([("", "nt1:bisq"), ("", home)])
        #expect(way(both, home) == "home \(home)")
        #expect(way(both, "nt1:bisq") == "public nt1:bisq")
        #expect(way(both, "nt1:ntfy.sh:bisq") == "NotInPhoneBook")
        #expect(way(both, "nt1:else.example:bisq") == "BadDeviceToken")
    }

    /// As before there were several: an address without a server is the first one's, unless the book says otherwise.
    @Test func withoutAServerThePhoneBookSaysOfWhichItIs() {
        #expect(way(validator([("", "nt1:bisq")]), "nt1:bisq") == "public nt1:bisq")
        #expect(way(validator([("home", "nt1:bisq")]), "nt1:bisq") == "home nt1:bisq")
        #expect(way(validator([("home", "nt1:bisq")]), "nt1:bisq....") == "home nt1:bisq")
        // No sender takes it elsewhere.
        #expect(way(validator([("home", "nt1:bisq")]), "nt1:bisq", naming: "public") == "home nt1:bisq")
        // It is of both.
        let both = validator([("public", "nt1:bisq"), ("home", "nt1:bisq")])
        #expect(way(both, "nt1:bisq") == "public nt1:bisq")
        #expect(way(both, "nt1:bisq", naming: "home") == "home nt1:bisq")
        #expect(way(validator([]), "nt1:bisq") == "NotInPhoneBook")
        // An app of that name is gone.
        #expect(way(validator([("gone", "nt1:bisq")]), "nt1:bisq") == "public nt1:bisq")
    }
}
