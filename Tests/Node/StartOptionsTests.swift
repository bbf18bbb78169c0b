import Testing

@testable import Node

@Suite struct StartOptionsTests {
    @Test func aConfigurationIsNamedOrTheInstalledOne() {
        #expect(StartOptions([]) == .run(configuration: "/etc/onionbell/onionbell.yaml"))
        #expect(StartOptions(["--config", "a b"]) == .run(configuration: "a b"))
        #expect(StartOptions(["--help"]) == .help)
        #expect(StartOptions(["--version"]) == .version)
    }

    @Test func aCheckNamesTheSettingsAndWhatTheNodeHas() {
        let check = ["--check-start", "--config", "a"]
        #expect(StartOptions(check) == .check(configuration: "a", serving: []))
        #expect(StartOptions(check + ["--serving"]) == .check(configuration: "a", serving: []))
        #expect(
            StartOptions(check + ["--serving", "127.0.0.1:1", "unix:/b"])
                == .check(configuration: "a", serving: ["127.0.0.1:1", "unix:/b"]))
        #expect(StartOptions(check + ["--other", "b"]) == .wrong("unknown option --other"))
        #expect(StartOptions(["--check-start"]) == .wrong("unknown option --check-start"))
    }

    @Test(arguments: [
        (["--config"], "--config needs the name of a file"),
        (["--config", ""], "--config needs the name of a file"),
        (["run"], "unknown option run"), (["--\u{1b}[1m"], #"unknown option --\u{1B}[1m"#),
        (["--config", "a", "b"], "more than one option"), (["--help", "--version"], "more than one option"),
    ])
    func anythingElseIsWrong(words: [String], sentence: String) {
        #expect(StartOptions(words) == .wrong(sentence))
    }
}
