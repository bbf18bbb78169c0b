import Clocks
import Encodings

/// Checks a submission against the configured apps and their services' rules, in a fixed order; the first failure names
/// itself and nothing is stored.
package struct Validator: Sendable {
    /// The largest payload that most services take: APNs 4,096 bytes of JSON (Apple, "Generating a remote notification"),
    /// FCM 4,096 bytes of keys and values (Firebase, "About FCM messages").
    package static let payloadLimit = 4096
    /// FCM's longest time to live; APNs keeps no longer than 30 days.
    package static let longestLifetime: Duration = .seconds(28 * 86400)
    /// ``longestLifetime`` in milliseconds: a `Duration` is divided with 128 bits, each time.
    static let longestMilliseconds = longestLifetime.milliseconds

    /// Bytes of an app's name.
    package static let longestName = 64

    /// A handful: to look at each takes less than to hash a name.
    private let apps: [App]
    /// The apps whose service claims addresses by a prefix, each with the others that claim the same.
    private let claimants: [(prefix: String, apps: [App])]
    private let nobodies: Set<DeviceToken>
    private let defaultIOS: String
    private let defaultAndroid: String
    /// The lifetime of a notification whose sender names none, in milliseconds.
    private let defaultLifetime: Duration
    package var phoneBook = PhoneBook()

    package init(
        apps: [App], defaultIOS: String, defaultAndroid: String,
        defaultLifetime: Duration = Validator.longestLifetime
    ) {
        self.apps = apps
        var claimants: [(prefix: String, apps: [App])] = []
        for app in apps {
            guard let prefix = app.service.prefix else { continue }
            if let index = claimants.firstIndex(where: { $0.prefix == prefix }) {
                claimants[index].apps.append(app)
            } else {
                claimants.append((prefix, [app]))
            }
        }
        self.claimants = claimants
        nobodies = Set(
            DeviceToken.ofNobody + apps.flatMap { app in Platform.allCases.map(app.service.nobody(on:)) })
        self.defaultIOS = defaultIOS
        self.defaultAndroid = defaultAndroid
        self.defaultLifetime = defaultLifetime
    }

    /// Makes the first two checks, platform with app and device token, and returns who is to get the
    /// notification. Nothing else is checked yet.
    ///
    /// - Throws: The reason word; the caller answers it and stores nothing.
    package func recipient(of submission: Submission) throws(Reason) -> (Recipient, App) {
        guard let platform = submission.platform else { throw .unknownPlatform }
        guard let app = app(for: submission, on: platform) else { throw .unknownApp }
        guard app.isEnabled else { throw .gatewayDisabled }
        // It may have come from here: a ring of relays would hand it around, and each take it for delivered.
        guard submission.hops == 0 || !app.service.handsOn else { throw .loop }
        guard submission.deviceToken.text.utf8.count <= DeviceToken.longest,
            let target = app.service.target(submission.deviceToken.text, on: platform)
        else { throw .badDeviceToken }
        guard app.targets == .any || phoneBook.holds(target.deviceToken) else { throw .notInPhoneBook }
        return (
            Recipient(
                lane: LaneID(app: app.name, host: target.host), deviceToken: target.deviceToken,
                isOfAlias: submission.isOfAlias), app
        )
    }

    /// Makes the submissions to each phone of an alias; `nil`: it is addressed to no alias.
    ///
    /// - Throws: The reason word, when the alias is not in the book or its phones take another form of messages.
    func copies(of submission: Submission) throws(Reason) -> [Submission]? {
        guard phoneBook.hasAliases, submission.deviceToken.isAlias else { return nil }
        guard let platform = submission.platform else { throw .unknownPlatform }
        guard case .bisq = submission.content,
            let phones = phoneBook.phones(behind: submission.deviceToken), !phones.isEmpty,
            phones.allSatisfy({ $0.form == PhoneBook.Form(platform) })
        else { throw .badDeviceToken }
        return phones.map { phone in
            var copy = submission
            copy.platform = phone.platform
            copy.deviceToken = phone.deviceToken
            if !phone.app.isEmpty { copy.app = phone.app }
            copy.isOfAlias = true
            return copy
        }
    }

    private func app(_ name: String) -> App? {
        for app in apps where app.name.hasSameBytes(as: name) { return app }
        return nil
    }

    /// Whether a token is nobody's: sent to see whether the way works. That it is refused says nothing of the
    /// configuration.
    func isOfNobody(_ deviceToken: DeviceToken) -> Bool {
        deviceToken.text.utf8.count <= DeviceToken.longest && nobodies.contains(deviceToken)
    }

    /// Returns the name of a lane where a person or a log reads.
    func shown(_ lane: LaneID) -> LaneID {
        guard lane.host.isOrigin else { return lane }
        let service = app(lane.app)?.service
        return LaneID(app: lane.app, host: service?.shown(lane.host) ?? .others)
    }

    /// Returns the app, and so the service, that an address belongs to: the app whose
    /// service claims it by its prefix, else that which the sender names, else the
    /// platform's. Phones of services with a prefix come as Android's.
    private func app(for submission: Submission, on platform: Platform) -> App? {
        if platform == .android, !claimants.isEmpty,
            let claimant = claimants.first(where: {
                submission.deviceToken.text.hasPrefix($0.prefix)
            })
        {
            return self.claimant(among: claimant.apps, of: submission)
        }
        // Of a service that no app here has: that lies with this node, and says nothing of the phone.
        if platform == .android, DeviceToken.hasServicePrefix(submission.deviceToken.text),
            !submission.deviceToken.isAlias
        {
            return nil
        }
        let fallback = platform == .android ? defaultAndroid : defaultIOS
        guard submission.app.utf8.count <= Validator.longestName,
            let app = app(submission.app.isEmpty ? fallback : submission.app),
            app.service.prefix == nil, app.service.serves(platform)
        else { return nil }
        return app
    }

    /// Returns the app for an address that several apps claim, each for a server of its
    /// own. An address that names no server may be of any of them: the phone book says of
    /// which. What is not in there is the first app's.
    private func claimant(among apps: [App], of submission: Submission) -> App {
        guard apps.count > 1 else { return apps[0] }
        let serving = apps.compactMap { app in
            app.service.target(submission.deviceToken.text, on: .android).map { (app, $0.deviceToken) }
        }
        guard let (first, deviceToken) = serving.first else { return apps[0] }
        guard serving.count > 1 else { return first }
        let names = phoneBook.apps(of: deviceToken)
        let booked = serving.lazy.map(\.0).filter { app in
            names.contains { $0.isEmpty ? app === first : $0.hasSameBytes(as: app.name) }
        }
        return booked.first { $0.name.hasSameBytes(as: submission.app) } ?? booked.first ?? first
    }

    /// Makes the other checks: message, size, expiry.
    ///
    /// - Throws: The reason word; the caller answers it and stores nothing.
    func notification(
        _ submission: Submission, to recipient: Recipient, of app: App, as id: NotificationID, at now: Instant
    ) throws(Reason) -> Notification {
        if let uid = submission.uid, !isUid(uid) { throw .badMessage }
        let notification = Notification(
            id: id, lane: recipient.lane, deviceToken: recipient.deviceToken,
            content: submission.content,
            expiresAt: submission.expiresAt == 0
                ? now.unix + defaultLifetime : submission.expiresAt,
            acceptedAt: now.unix, sender: submission.sender)
        switch submission.content {
        case .bisq(let content):
            guard let platform = submission.platform,
                submission.isNotice
                    ? Notice.isOne(content.message) : MessageText.isValid(content.message, for: platform)
            else { throw .badMessage }
        case .prepared(let push):
            guard !push.body.isEmpty, Validator.isCollapseID(push.collapseID) else { throw .badMessage }
        }
        guard let payloadSize = app.service.payloadSize(of: submission.content) else { throw .badMessage }
        guard submission.payloadSize ?? payloadSize <= app.service.payloadLimit else {
            throw .messageTooLarge
        }
        guard notification.expiresAt > now.unix,
            notification.expiresAt <= now.unix + .milliseconds(Validator.longestMilliseconds)
        else { throw .badExpiry }
        return notification
    }

    private func isUid(_ uid: String) -> Bool {
        (1...64).contains(uid.utf8.count) && uid.consists(of: ASCII.printable)
    }

    /// Whether an id can go into a header as it is, and is short enough.
    private static func isCollapseID(_ id: String?) -> Bool {
        guard let id else { return true }
        return (1...PreparedPush.longestCollapseID).contains(id.utf8.count)
            && id.consists(of: ASCII.printable)
    }
}
