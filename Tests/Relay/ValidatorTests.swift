import Clocks
import Encodings
import Testing
import Vectors

@testable import Relay

@Suite struct ValidatorTests {
    private func notification(
        _ submission: Submission, _ validator: Validator = Sample.validator
    ) throws(Reason) -> Notification {
        let (recipient, app) = try validator.recipient(of: submission)
        return try validator.notification(
            submission, to: recipient, of: app, as: NotificationID(high: 1, low: 2), at: Sample.start)
    }

    private func refusal(_ submission: Submission, _ validator: Validator = Sample.validator) -> Reason? {
        do throws(Reason) {
            _ = try notification(submission, validator)
            return nil
        } catch {
            return error
        }
    }

    @Test func aSoundSubmissionBecomesANotification() throws {
        let submission = Submission(
            platform: .iosDev, deviceToken: Sample.iosToken.uppercased(), message: Sample.message,
            isUrgent: true, hasSound: true, isMutableContent: true, isContentAvailable: true)
        #expect(
            try notification(submission)
                == Notification(
                    id: NotificationID(high: 1, low: 2), lane: LaneID(app: "ios", host: .sandbox),
                    deviceToken: DeviceToken(Sample.iosToken),
                    message: Sample.message, isUrgent: true, hasSound: true, isMutableContent: true,
                    isContentAvailable: true,
                    expiresAt: Sample.start.unix + .milliseconds(28 * 86_400_000),
                    acceptedAt: Sample.start.unix))
    }

    /// However often: a ring of relays would take it for delivered.
    @Test func whatWasHandedOnIsNotHandedOnAgain() {
        var relay = SampleService("relay", for: [.ios, .android])
        relay.handsOn = true
        let validator = Validator(
            apps: [
                App(name: "relay", service: relay, isEnabled: true),
                App(name: "own", service: SampleService.ios, isEnabled: true),
            ], defaultIOS: "relay", defaultAndroid: "relay")
        for hops in [0, 1, 2, -1, Int.max] {
            var submission = Sample.android()
            submission.hops = hops
            #expect(refusal(submission, validator) == (hops == 0 ? nil : .loop))
            submission = Sample.ios(app: "own")
            submission.hops = hops
            #expect(refusal(submission, validator) == nil)
        }
    }

    @Test func anUnknownPlatformIsNamed() {
        var submission = Sample.android()
        submission.platform = nil
        #expect(refusal(submission) == .unknownPlatform)
    }

    @Test func anAppIsFoundByNameAndServesItsPlatformOnly() {
        #expect(refusal(Sample.ios(app: "ios")) == nil)
        #expect(refusal(Sample.ios(app: "Ios")) == .unknownApp)
        #expect(refusal(Sample.ios(app: "android")) == .unknownApp)
        var submission = Sample.android()
        submission.app = "ios"
        #expect(refusal(submission) == .unknownApp)
    }

    /// Names of apps are short; what is longer is not even looked up.
    @Test func aStrangersAppCostsWhatItsLengthSays() {
        let ratio = HostileText.ratio { #expect(refusal(Sample.ios(app: $0)) == .unknownApp) }
        #expect(ratio < 20)
        let long = String(repeating: "a", count: 64)
        let validator = Validator(apps: [Sample.app(long, [.ios])], defaultIOS: "", defaultAndroid: "")
        #expect(refusal(Sample.ios(app: long), validator) == nil)
        #expect(refusal(Sample.ios(app: long + "a"), validator) == .unknownApp)
    }

    @Test func aPlatformWithoutADefaultNeedsAName() {
        let validator = Validator(apps: [Sample.app("ios", [.ios])], defaultIOS: "", defaultAndroid: "")
        #expect(refusal(Sample.ios(), validator) == .unknownApp)
        #expect(refusal(Sample.ios(app: "ios"), validator) == nil)
    }

    @Test func anAppWithoutCredentialsSaysSo() {
        #expect(refusal(Sample.ios(app: "off")) == .gatewayDisabled)
    }

    @Test func aTokenIsJudgedByItsPlatform() {
        #expect(refusal(Sample.ios(token: Sample.androidToken)) == .badDeviceToken)
        #expect(refusal(Sample.android(token: Sample.iosToken)) == nil)
        #expect(refusal(Sample.android(token: "")) == .badDeviceToken)
    }

    @Test(arguments: [1, 2, 63, 64])
    func aUidHasUpToSixtyFourCharacters(count: Int) {
        #expect(refusal(Sample.android(String(repeating: "~", count: count))) == nil)
        #expect(refusal(Sample.android(String(repeating: " ", count: count))) == nil)
    }

    @Test(arguments: ["", String(repeating: "u", count: 65), "\n", "\u{7f}", "\u{1f}", "é", "a\u{0}"])
    func anotherUidIsRefused(uid: String) {
        #expect(refusal(Sample.android(uid)) == .badMessage)
    }

    @Test func aBadMessageIsNamed() {
        #expect(refusal(Sample.android(message: "")) == .badMessage)
        #expect(refusal(Sample.android(message: "hello")) == .badMessage)
    }

    /// 4,000 bytes of message and 96 around it, or 97.
    @Test func aPayloadHasUpToFourThousandAndNinetySixBytes() {
        var submission = Sample.android(message: String(repeating: "A", count: 4000))
        #expect(refusal(submission) == nil)
        submission.app = "tight"
        #expect(refusal(submission) == .messageTooLarge)
    }

    @Test func anExpiryIsAheadAndAtMostTwentyEightDaysAway() {
        let now = Sample.start.unix
        let longest = Duration.seconds(28 * 86_400)
        #expect(refusal(Sample.android(expiresAt: now + .milliseconds(1))) == nil)
        #expect(refusal(Sample.android(expiresAt: now + longest)) == nil)
        for refused in [
            now, now - .milliseconds(1), 1, -1, UnixTime.min, now + longest + .milliseconds(1), .max,
        ] {
            #expect(refusal(Sample.android(expiresAt: refused)) == .badExpiry)
        }
    }

    @Test func aLifetimeOfTheNodesOwnHoldsWhereNoneIsGiven() throws {
        let validator = Validator(
            apps: [Sample.app("android", [.android])], defaultIOS: "", defaultAndroid: "android",
            defaultLifetime: .seconds(60))
        let notification = try notification(Sample.android(), validator)
        #expect(notification.expiresAt == Sample.start.unix + .milliseconds(60_000))
    }

    /// Everything is wrong; one after the other is mended, and the next fault names itself.
    @Test func theFirstFailureNamesItself() {
        var submission = Submission(
            uid: "", platform: nil, app: "none", deviceToken: "x", message: "x", expiresAt: 1)
        #expect(refusal(submission) == .unknownPlatform)
        submission.platform = .ios
        #expect(refusal(submission) == .unknownApp)
        submission.app = "off"
        #expect(refusal(submission) == .gatewayDisabled)
        submission.platform = .android
        submission.app = "tight"
        #expect(refusal(submission) == .badDeviceToken)
        submission.deviceToken = DeviceToken(Sample.androidToken)
        #expect(refusal(submission) == .badMessage)
        submission.uid = "u"
        #expect(refusal(submission) == .badMessage)
        submission.content = Sample.android(message: String(repeating: "A", count: 4000)).content
        #expect(refusal(submission) == .messageTooLarge)
        submission.content = Sample.android().content
        #expect(refusal(submission) == .badExpiry)
        submission.expiresAt = 0
        #expect(refusal(submission) == nil)
    }

    /// A service that claims addresses by a prefix gets them whatever app the sender names, and no others.
    @Test func anAddressWithAPrefixGoesToTheServiceThatClaimsIt() throws {
        let validator = Validator(
            apps: [
                Sample.app("android", [.android]),
                App(
                    name: "page", service: SampleService("web", for: [.android], prefix: "wp1:"),
                    isEnabled: true),
            ], defaultIOS: "", defaultAndroid: "android")
        func app(_ token: String, app: String, _ platform: Platform = .android) throws(Reason) -> String {
            let submission = Submission(
                platform: platform, app: app, deviceToken: token, message: Sample.message)
            return try validator.recipient(of: submission).0.lane.app
        }
        let address = "wp1:" + Sample.androidToken
        #expect(try app(address, app: "") == "page")
        #expect(try app(address, app: "android") == "page")
        #expect(try app(address, app: "nobody's") == "page")
        #expect(try app(Sample.androidToken, app: "") == "android")
        #expect(throws: Reason.unknownApp) { try app(Sample.androidToken, app: "page") }
        #expect(throws: Reason.unknownApp) { try app(address, app: "android", .ios) }
        // Nobody claims it, and it is no token of the platform's.
        #expect(throws: Reason.unknownApp) { try app("mb1:" + Sample.androidToken, app: "") }
    }

    private func prepared(
        _ body: String, payloadSize: Int? = nil, collapseID: String? = nil
    ) -> Submission {
        Submission(
            platform: .ios, deviceToken: Sample.iosToken,
            content: .prepared(PreparedPush(.object(body), collapseID: collapseID)),
            payloadSize: payloadSize)
    }

    @Test func aPreparedPushIsTakenAsItIs() throws {
        let submission = prepared(#"{"p":"no message of Bisq's"}"#, collapseID: "t")
        #expect(try notification(submission).content == submission.content)
        #expect(refusal(prepared("")) == .badMessage)
    }

    @Test func aPreparedPushFitsByItsBodyOrAsItsDoorCounts() {
        #expect(refusal(prepared(String(repeating: "x", count: 4096))) == nil)
        #expect(refusal(prepared(String(repeating: "x", count: 4097))) == .messageTooLarge)
        #expect(refusal(prepared(String(repeating: "x", count: 5000), payloadSize: 4096)) == nil)
        #expect(refusal(prepared("x", payloadSize: 4097)) == .messageTooLarge)
    }

    @Test func aCollapseIDIsWhatAHeaderTakes() {
        #expect(refusal(prepared("{}", collapseID: String(repeating: "c", count: 64))) == nil)
        #expect(refusal(prepared("{}", collapseID: String(repeating: "c", count: 65))) == .badMessage)
        for id in ["", "a\r\nb", "ä", "\u{7f}"] {
            #expect(refusal(prepared("{}", collapseID: id)) == .badMessage)
        }
    }

    @Test func theReasonCodesAreTheContracts() {
        let words = """
            UnknownPlatform UnknownApp BadDeviceToken Unregistered BadMessage MessageTooLarge BadExpiry \
            DuplicateUid Busy GatewayDisabled NotInPhoneBook Expired Loop Internal
            """
        #expect(Reason.own.map(\.code) == words.split(separator: " ").map(String.init))
    }
}
