import Calls
import Client
import Crypto
import Encodings
import Gateways
import Node
import Persistence
import Processes
import Reactor
import Relay
import Wire

// What an owner enters of phones, for commands and calls alike.

extension PairingToken {
    func refuseAlias() throws(CallRefusal) {
        guard platform == .android else {
            throw CallRefusal(
                .unfit, "android_only",
                "Bisq takes the address of several phones for Android phones only")
        }
    }

    /// Returns the pairing token of the same phone with the address of all phones of its name.
    func leading(to alias: DeviceToken) throws(CallRefusal) -> PairingToken {
        try refuseAlias()
        do throws(PairingTokenError) {
            return try PairingToken(
                platform: platform, descriptor: descriptor, key: key, deviceToken: alias.text)
        } catch {
            throw CallRefusal(error)
        }
    }

    /// The model as the phone calls itself; may be empty.
    package var model: String { String(plainText(descriptor).prefix(64)) }
}

extension PhoneEntry {
    /// Makes the entry in the book for a phone that shows this pairing token. Its key is not part of that.
    package init(of token: PairingToken, named name: String, in settings: Settings) throws(CallRefusal) {
        try self.init(
            token.platform, token.deviceToken, app: "", named: name, model: token.model, in: settings)
    }

    /// Makes the entry with the device token in the one spelling of the service that it belongs to.
    package init(
        _ platform: Platform, _ token: String, app: String, named name: String, model: String,
        in settings: Settings
    ) throws(CallRefusal) {
        if platform == .android, PairingToken.isCut(token) {
            throw CallRefusal(
                .unfit, "token_cut",
                "the device token is cut: Google's have \(PairingToken.leastSecret) characters or more behind :APA91b. Copy all of it"
            )
        }
        // Credentials may come later, and whoever is added is in the book.
        let validator = Validator(
            apps: GatewayAssembly.apps(of: settings).map {
                App(name: $0.name, service: $0.service, isEnabled: true)
            }, defaultIOS: settings.defaultIOS, defaultAndroid: settings.defaultAndroid)
        do throws(Reason) {
            let (recipient, _) = try validator.recipient(
                of: Submission(platform: platform, app: app, deviceToken: token, message: ""))
            self.init(
                PhoneBook.Phone(
                    number: 0, name: name, platform: platform, app: app, deviceToken: recipient.deviceToken),
                model: model, addedAt: EventLoop.unixMilliseconds)
        } catch {
            throw PhoneEntry.refusal(error, platform, app, settings)
        }
    }

    private static func refusal(
        _ reason: Reason, _ platform: Platform, _ app: String, _ settings: Settings
    ) -> CallRefusal {
        if reason == .badDeviceToken {
            return CallRefusal(
                .unfit, "token_device",
                "the device token has not the form that the app's push service gives")
        }
        if app.isEmpty {
            return CallRefusal(
                .unfit, "no_app", "no app is the default for such phones (defaults): name one with --app")
        }
        let names = settings.apps.filter { $0.service.serves(platform) }.map(\.name)
        return CallRefusal(
            .unfit, "unknown_app",
            "no app for such phones has the name \(SettingsFault.shown(app)); known are: "
                + (names.isEmpty ? "none" : names.joined(separator: ", ")))
    }
}

/// A phone that its owner adds: by its pairing token, or by its device token alone.
struct NewPhone {
    let entry: PhoneEntry
    /// The pairing token. Its key is not stored.
    let token: PairingToken?

    static let platforms = CallShape.choice(["iOS", "iOSDev", "android"])
    /// The question of the call that adds one.
    static let shape = CallShape.either([
        ["name": .phoneName, "pairing_token": .text(8192), "app?": .text(255)],
        ["name": .phoneName, "device_token": .text(8192), "platform": platforms, "app?": .text(255)],
    ])

    init(_ body: CallBody, in settings: Settings) throws(CallRefusal) {
        let name = try body.text("name")
        try PhoneBook.check(name)
        let app = body.optionalText("app") ?? ""
        guard let device = body.optionalText("device_token") else {
            let token = try PairingToken(entered: body.text("pairing_token"))
            self.token = token
            entry = try PhoneEntry(
                token.platform, token.deviceToken, app: app, named: name, model: token.model, in: settings)
            return
        }
        let word = try body.text("platform")
        guard let platform = Platform(pairingMagic: word.utf8), body.optionalText("pairing_token") == nil
        else {
            throw CallRefusal(
                .malformed, "bad_request",
                "give pairing_token, or device_token and platform, which is iOS, iOSDev or android")
        }
        do throws(NtfyService.AddressFault) {
            _ = try NtfyService.paired(device)
        } catch {
            throw CallRefusal(.unfit, "bad_topic", "\(error)")
        }
        token = nil
        entry = try PhoneEntry(platform, device, app: app, named: name, model: "", in: settings)
    }

    /// Bisq 2 needs an address that stands for its own.
    var isTooLongForBisq2: Bool {
        entry.phone.platform == .android
            && entry.phone.deviceToken.text.utf8.count > TrustedNodeDevice.tokenLengths.upperBound
    }
}

extension PhoneBook {
    package static func newAlias() -> DeviceToken { alias(Base64.encodeForURL(randomBytes(72))) }
}

extension PhoneBook.Refusal: CustomStringConvertible {
    package var description: String { refusal.sentence }

    package var refusal: CallRefusal {
        switch self {
        case .full:
            CallRefusal(.conflict, "book_full", "the phone book is full: \(PhoneBook.mostPhones) phones")
        case .nameIsFull:
            CallRefusal(
                .conflict, "name_full", "the name has \(PhoneBook.mostPhonesOfName) phones, which is the most"
            )
        case .alreadyThere(let number):
            CallRefusal(
                .conflict, "phone_known", "this phone is in the book already, under the number \(number)")
        case .formsDiffer:
            CallRefusal(
                .conflict, "forms_differ",
                "an alias can't have iPhones and Android phones: Bisq encrypts in another form for each. Use two names"
            )
        case .unknownName:
            CallRefusal(.absent, "unknown_name", "no phone has this name: see onionbell phones list")
        case .nameIsTaken: CallRefusal(.conflict, "name_taken", "the new name is taken already")
        }
    }
}
