import Gateways
import Glibc
import Node
import Programs

/// Asks on the terminal for what no option gave. Each answer is checked at once; an empty one is the default.
struct Interview {
    /// Standard input has ended.
    private static let over = InitError.notWritten("no more answers: nothing was written")

    func complete(_ choices: inout ConfigurationChoices) throws(InitError) {
        printLine("An empty answer means the value in brackets.")
        if choices.apple == nil, choices.androidAccount == nil {
            let answer = try ask(
                "Ring the published Bisq apps through Bisq's relay (no account needed): yes or no?", "yes"
            ) { ["yes", "no"].contains($0) ? nil : "yes or no" }
            choices.ringsThroughBisq = answer == "yes"
        }
        if choices.tor == nil {
            let answer = try ask("Tor: own (the node starts a managed Tor) or system (a running tor)?", "own")
            {
                Settings.Tor.Mode(rawValue: $0) == nil ? "own or system" : nil
            }
            choices.tor = Settings.Tor.Mode(rawValue: answer)
        }
        guard !choices.ringsThroughBisq else { return }
        if choices.apple == nil { choices.apple = try askForApple() }
        if choices.androidAccount == nil {
            let file = try askForFile("File with Google's service account (.json); empty: none yet")
            choices.androidAccount = file.isEmpty ? nil : file
        }
        if choices.webPushContact == nil {
            let answer = try ask(
                "Browsers (Web Push, no account): no, anonymous, or your address for push services (mailto:...)",
                "no"
            ) {
                ["no", "anonymous"].contains($0) || WebPushApp.isContact($0)
                    ? nil : "no, anonymous, mailto:NAME@HOST or https://HOST"
            }
            choices.webPushContact = answer == "no" ? nil : answer == "anonymous" ? "" : answer
        }
    }

    private func askForApple() throws(InitError) -> ConfigurationChoices.Apple? {
        let file = try askForFile("File with Apple's key (.p8) or push certificate (.p12); empty: none yet")
        guard !file.isEmpty else { return nil }
        guard file.hasSuffix(".p8") else {
            let passwordFile = try askForFile("File with the certificate's password; empty: it has none")
            return .certificate(file: file, passwordFile: passwordFile.isEmpty ? nil : passwordFile)
        }
        let identifier = { (text: String) in
            AppleName.isIdentifier(text) ? nil : "10 capital letters and digits"
        }
        return .key(
            file: file,
            keyID: try ask("Key id", AppleName.keyID(inFileName: file) ?? "", isWrong: identifier),
            teamID: try ask("Team id", "", isWrong: identifier))
    }

    private func askForFile(_ question: String) throws(InitError) -> String {
        try ask(question, "") { path in
            path.isEmpty || access(path, R_OK) == 0 ? nil : String(cString: strerror(errno))
        }
    }

    private func ask(
        _ question: String, _ standard: String, isWrong: (String) -> String?
    ) throws(InitError) -> String {
        while true {
            printText("\(question) [\(standard)]: ")
            guard let line = readLine(strippingNewline: true) else { throw Self.over }
            let answer = line.isEmpty ? standard : line
            guard let fault = isWrong(answer) else { return answer }
            printLine("  not usable: \(fault)")
        }
    }
}
