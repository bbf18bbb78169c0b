import Foundation
import Synchronization
import Testing

@testable import Onionbell

/// The questions of `init`: each answer is checked when it is given, and none is lost.
@Suite struct InterviewTests {
    /// What was asked and told, and the choices; `nil`: there were too few answers.
    private func hold(
        _ answers: [String], given: ConfigurationChoices = .init(),
        fault: @escaping (ConfigurationChoices) async -> String? = { _ in nil }
    ) async -> (choices: ConfigurationChoices?, told: String, left: Int) {
        let transcript = Transcript(answers)
        var interview = Interview(
            given, read: { transcript.next() }, tell: { transcript.told += $0 }, fault: fault)
        let choices = try? await interview.run()
        return (choices, transcript.told, transcript.answers.count)
    }

    private final class Transcript {
        var answers: [String]
        var told = ""
        init(_ answers: [String]) { self.answers = answers }
        func next() -> String? { answers.isEmpty ? nil : answers.removeFirst() }
    }

    private let key: String = {
        let path = FileManager.default.temporaryDirectory.path + "/onionbell-\(UUID())-AuthKey.p8"
        try? "key".write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }()

    @Test func emptyAnswersAreTheOnesInBrackets() async {
        let seen = await hold(["", "", "", ""])
        #expect(seen.choices?.console == .local)
        #expect(seen.choices?.ringsThroughBisq == true)
        #expect(seen.choices?.tor == .own && seen.choices?.network == .mainnet)
        #expect(seen.left == 0)
    }

    @Test func capitalsAndBlanksAreNoMatter() async {
        let seen = await hold([" YES ", "SYSTEM", "Testnet", "No", "YES"])
        #expect(seen.choices?.console == .onion)
        #expect(seen.choices?.tor == .system && seen.choices?.network == .testnet)
    }

    /// An id is never asked for without end: one goes back, and the file that was given is kept.
    @Test func oneGoesBackAndAnswersAreKept() async {
        let seen = await hold(
            ["no", "", "", key, "", "<", "", "abc123defg", "def123ghij", "", "", "no"])
        #expect(seen.told.contains("it is needed with a key"))
        #expect(seen.told.contains("developer.apple.com, Keys"))
        #expect(seen.told.components(separatedBy: "[\(key)]").count == 2)
        guard case .key(let file, let keyID, let teamID) = seen.choices?.apple else {
            Issue.record("\(seen.told)")
            return
        }
        #expect(file == key && keyID == "ABC123DEFG" && teamID == "DEF123GHIJ")
        #expect(seen.left == 0)
    }

    /// The fault comes with the answer, and the next one may be right.
    @Test func whatIsInAFileIsCheckedWhenItIsNamed() async {
        let told = Mutex(false)
        let seen = await hold(
            ["no", "", "", "/nowhere/key.p8", "/etc", key, key, "ABC123DEFG", "DEF123GHIJ", "", "", "no"],
            fault: { choices in
                guard choices.apple != nil else { return nil }
                return told.withLock { isTold in
                    defer { isTold = true }
                    return isTold ? nil : "it is no key"
                }
            })
        #expect(seen.told.contains("/nowhere/key.p8: No such file or directory"))
        #expect(seen.told.contains("/etc is not a file"))
        #expect(seen.told.contains("not usable: it is no key"))
        #expect(seen.choices?.apple != nil)
    }

    @Test func aTildeIsTheHome() throws {
        #expect(Interview.expanded("~/key.p8", homes: ["/home/somebody"]) == "/home/somebody/key.p8")
        // Under sudo: root's, and that of the user who typed it.
        let name = "onionbell-\(UUID())"
        let home = FileManager.default.temporaryDirectory.path
        try "".write(toFile: "\(home)/\(name)", atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: "\(home)/\(name)") }
        #expect(Interview.expanded("~/\(name)", homes: [home, "/nowhere"]) == "\(home)/\(name)")
        #expect(Interview.expanded("~/\(name)", homes: ["/root", home]) == "\(home)/\(name)")
        #expect(Interview.expanded("~/none", homes: ["/root", "/home/somebody"]) == "/home/somebody/none")
        #expect(Interview.expanded("~other/key.p8") == "~other/key.p8")
        #expect(Interview.expanded("/a~/b") == "/a~/b")
    }

    @Test func whenAnswersEndNothingIsMade() async {
        let seen = await hold(["no"])
        #expect(seen.choices == nil)
    }

    @Test func whatOptionsGaveIsNotAskedFor() async {
        var given = ConfigurationChoices()
        given.tor = .instance
        given.network = .regtest
        given.apple = .certificate(file: "/x.p12", passwordFile: nil)
        given.androidAccount = "/y.json"
        given.webPushContact = ""
        let seen = await hold([], given: given)
        #expect(seen.choices?.tor == .instance)
    }
}
