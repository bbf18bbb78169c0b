import JSONCoding

/// The result of one look at the node or at what surrounds it.
package struct Finding: Equatable {
    package enum Verdict: String {
        case pass
        /// The thing works, and needs a person some day, or could not be looked at now.
        case warn
        /// Notifications don't arrive, or won't after a restart.
        case fail
    }

    /// Stable, for scripts: `tor.clock`, `bisq-remote-ios.credentials`.
    package var check: String
    package var verdict: Verdict
    /// The observation, without an end of sentence.
    package var words: String
    /// The advice; `nil` where there is nothing to do.
    package var advice: String?

    package init(check: String, verdict: Verdict, words: String, advice: String? = nil) {
        (self.check, self.verdict, self.words, self.advice) = (check, verdict, words, advice)
    }

    package static func pass(_ check: String, _ words: String) -> Finding {
        Finding(check: check, verdict: .pass, words: words)
    }

    package static func warn(_ check: String, _ words: String, _ advice: String) -> Finding {
        Finding(check: check, verdict: .warn, words: words, advice: advice)
    }

    package static func fail(_ check: String, _ words: String, _ advice: String) -> Finding {
        Finding(check: check, verdict: .fail, words: words, advice: advice)
    }

    /// Returns one or two lines for a reader.
    package func text(coloured: Bool) -> String {
        let colour =
            switch verdict {
            case .pass: "32"
            case .warn: "33"
            case .fail: "31"
            }
        let word = coloured ? "\u{1b}[\(colour)m\(verdict.rawValue)\u{1b}[0m" : verdict.rawValue
        return "\(word)  \(check): \(words)" + (advice.map { "\n      -> \($0)" } ?? "")
    }

    /// The finding as one JSON object.
    package var json: String {
        var text: [UInt8] = Array(#"{"check":"#.utf8)
        text.append(jsonString: check)
        text += Array(#","verdict":"\#(verdict.rawValue)","words":"#.utf8)
        text.append(jsonString: words)
        if let advice {
            text += Array(#","advice":"#.utf8)
            text.append(jsonString: advice)
        }
        return String(decoding: text + [UInt8(ascii: "}")], as: UTF8.self)
    }
}
