import ArgumentParser
import Testing

@testable import Onionbell

@Suite struct UnknownCommandTests {
    @Test(arguments: [
        (["doctr"], "there is no command onionbell doctr; did you mean doctor?"),
        (["outbox", "drob", "--all"], "there is no command onionbell outbox drob; did you mean drop?"),
        (["outbox", "drop", "nine"], nil), (["--version"], nil), (["status", "--jsn"], nil),
        (["help", "x"], nil),
    ])
    func theNearestCommandIsNamed(words: [String], sentence: String?) {
        #expect(Onionbell.unknownCommand(in: words) == sentence)
    }

    @Test func whoeverIsFarOffIsToldWhatThereIs() {
        #expect(
            Onionbell.unknownCommand(in: ["qqqqqqqqqqqqqqqq"])?.contains("; there are init, check-config, ")
                == true
        )
    }

    /// Each shell's script, with names of files.
    @Test(arguments: ["bash", "zsh", "fish"]) func shellsCompleteCommandsAndFiles(shell: String) {
        let script = Onionbell.completionScript(for: CompletionShell(rawValue: shell)!)
        #expect(script.contains("doctor") && script.contains("outbox"))
    }
}
