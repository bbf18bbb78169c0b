import StatusIM
import Testing

@Suite struct RegistrationTests {
    private static let good = {
        var registration = Registration()
        registration.tokenType = 1
        registration.deviceToken = "ab"
        registration.installationID = "0b5376cf-7979-4b86-bd54-842eba5b1def"
        registration.accessToken = "52ad1dbd-0314-43e0-b286-eff4a7151ff6"
        registration.version = 3
        registration.grant = [1]
        return registration
    }()

    private func fault(
        storedVersion: UInt64? = nil, isGranted: Bool = true,
        _ change: (inout Registration) -> Void = { _ in }
    ) -> RegistrationFault? {
        var registration = RegistrationTests.good
        change(&registration)
        do throws(RegistrationFault) {
            try registration.checkIdentity()
            try registration.check(storedVersion: storedVersion) { _ in isGranted }
            return nil
        } catch {
            return error
        }
    }

    @Test func eachCheckHasItsFault() {
        #expect(fault() == nil)
        #expect(fault { $0.version = 0 } == .versionMismatch)
        #expect(fault { $0.installationID = "" } == .malformedMessage)
        #expect(fault { $0.accessToken = "no" } == .malformedMessage)
        #expect(fault { $0.grant = [] } == .malformedMessage)
        #expect(fault(isGranted: false) == .malformedMessage)
        #expect(fault { $0.deviceToken = "" } == .malformedMessage)
        #expect(fault { $0.tokenType = 0 } == .malformedMessage)
        // Nobody checks what only Apple's phones must have, nor types that may come.
        #expect(fault { $0.tokenType = 9 } == nil)
    }

    /// Also after unregistering, of which only the version is left.
    @Test func onlyAHigherVersionReplaces() {
        #expect(fault(storedVersion: 2) == nil)
        #expect(fault(storedVersion: 3) == .versionMismatch)
        #expect(fault(storedVersion: .max) == .versionMismatch)
    }

    @Test func theFirstFailureWins() {
        #expect(
            fault {
                $0.version = 0
                $0.installationID = ""
            } == .versionMismatch)
        #expect(fault(storedVersion: 3) { $0.accessToken = "" } == .versionMismatch)
        #expect(fault(storedVersion: 3) { $0.installationID = "" } == .malformedMessage)
    }

    @Test func toUnregisterNeedsNothingButNameAndVersion() {
        #expect(
            fault(storedVersion: 2, isGranted: false) {
                $0.isUnregister = true
                $0.accessToken = ""
                $0.grant = []
                $0.deviceToken = ""
                $0.tokenType = 0
            } == nil)
        #expect(fault(storedVersion: 3) { $0.isUnregister = true } == .versionMismatch)
    }

    @Test func whatIsKeptIsWhatCame() throws {
        var registration = RegistrationTests.good
        registration.allowedKeys = [[1, 2], []]
        registration.blockedChats = [[3]]
        registration.isFromContactsOnly = true
        registration.topic = "im.status"
        registration.blocksMentions = true
        registration.allowedMentionChats = [[4]]
        registration.mutedChats = [[5], [6]]
        registration.version = .max
        #expect(try Registration(registration.encoded) == registration)
    }
}
