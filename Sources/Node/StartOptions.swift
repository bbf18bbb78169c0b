/// The request of the node's command line.
package enum StartOptions: Equatable {
    case run(configuration: String)
    /// Says whether a start would succeed, as far as that can be known beside a node that runs.
    ///
    /// - Parameter serving: places that this node has already: `127.0.0.1:8080`, `unix:/PATH`.
    case check(configuration: String, serving: [String])
    case help
    case version
    /// The sentence says what is wrong.
    case wrong(String)

    /// Reads the options.
    ///
    /// - Parameter words: those behind the program's name.
    package init(_ words: [String]) {
        switch (words.first ?? "", words.count) {
        case (_, 0): self = .run(configuration: Settings.standardFile)
        case ("--help", 1), ("-h", 1): self = .help
        case ("--version", 1): self = .version
        case ("--config", 2) where !words[1].isEmpty: self = .run(configuration: words[1])
        case ("--check-start", 3...) where words[1] == "--config" && !words[2].isEmpty:
            let rest = words.dropFirst(3)
            self =
                rest.isEmpty || rest.first == "--serving"
                ? .check(configuration: words[2], serving: Array(rest.dropFirst()))
                : .wrong("unknown option \(SettingsFault.shown(words[3]))")
        case ("--config", ...2): self = .wrong("--config needs the name of a file")
        case (let word, 1): self = .wrong("unknown option \(SettingsFault.shown(word))")
        default: self = .wrong("more than one option")
        }
    }
}
