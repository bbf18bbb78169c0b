import Pointing
import Testing

/// What `onionbell point --write` and `--undo` make of a file.
@Suite struct ConfigurationEditTests {
    static let own = "ownownownownownownownownownownownownownownownownownownow.onion"
    static let bisq1 = PointedSettings(.bisq1, at: PointedNode(address: own))
    static let bisq2 = PointedSettings(.bisq2, at: PointedNode(address: own))
    static let line =
        "torrcOptions=MapAddress bisqpushv56wo32w2dv7xacvvcrnow6gud5vkvftwsgevczmspzvqgad.onion \(own)"

    @Test(arguments: [
        ("", "\(line)\n"),
        ("useDevMode=false\n", "useDevMode=false\n\(line)\n"),
        ("useDevMode=false", "useDevMode=false\n\(line)\n"),
        (
            "torrcOptions = ConnLimit 10 , Nickname a\nb=c\n",
            "torrcOptions=ConnLimit 10,Nickname a,\(line.dropFirst(13))\nb=c\n"
        ),
        (
            "torrcOptions=MapAddress bisqpushv56wo32w2dv7xacvvcrnow6gud5vkvftwsgevczmspzvqgad.onion old.onion\n",
            "\(line)\n"
        ),
        ("#torrcOptions=a b\n", "#torrcOptions=a b\n\(line)\n"),
    ])
    func everyOtherLineOfAPropertiesFileStays(text: String, expected: String) throws {
        let written = try Self.bisq1.added(to: text)
        #expect(written == expected)
        #expect(try Self.bisq1.added(to: written) == written)
        #expect(!(try PointedSettings.removed(from: written, of: .bisq1)).contains("MapAddress"))
    }

    /// Bisq 1 `Config.java`: what the option's value must look like.
    @Test func bisqsRuleForTheValueHolds() throws {
        let rule = #/([^\s,]+\s[^,]+,?\s*)+/#
        for text in ["", "torrcOptions=ConnLimit 10\n"] {
            let written = try Self.bisq1.added(to: text)
            let value = try #require(written.split(separator: "\n").first).dropFirst("torrcOptions=".count)
            #expect(value.wholeMatch(of: rule) != nil)
        }
    }

    @Test func whatWasWrittenIsTakenOutWhole() throws {
        for text in ["a=b\n", "a=b\ntorrcOptions=ConnLimit 10\nc=d\n"] {
            #expect(try PointedSettings.removed(from: Self.bisq1.added(to: text), of: .bisq1) == text)
        }
        for text in ["", "application { a = 1 }\n", "{\n  application { a = 1 }\n}\n"] {
            #expect(try PointedSettings.removed(from: Self.bisq2.added(to: text), of: .bisq2) == text)
        }
    }

    @Test func anotherMapAddressIsLeftAlone() {
        #expect(throws: ConfigurationEditError.otherMapAddress(number: 1)) {
            try Self.bisq1.added(to: "torrcOptions=mapaddress a.onion b.onion\n")
        }
        #expect(throws: ConfigurationEditError.continuedLine(number: 2)) {
            try Self.bisq1.added(to: "a=b\ntorrcOptions=ConnLimit 10,\\\n  Nickname a\n")
        }
    }

    @Test func whatIsNotThereCannotBeTakenOut() {
        for client in PointedClient.allCases {
            #expect(throws: ConfigurationEditError.notPointed) {
                try PointedSettings.removed(from: "a=b\n", of: client)
            }
        }
        #expect(throws: ConfigurationEditError.linesMoved(key: PointedSettings.bisq2Key)) {
            try PointedSettings.removed(
                from: "application { bondedRoles { mobileNotifications {} } }", of: .bisq2)
        }
    }

    @Test func theLinesGoInsideTheBracesOfAFileThatHasThem() throws {
        let written = try Self.bisq2.added(to: "{\n  application { a = 1 }\n}\n")
        #expect(written.hasSuffix("# Onionbell ends\n}\n"))
        let moved = PointedSettings(.bisq2, at: Self.bisq2.node, hasFallback: true)
        let again = try moved.added(to: written)
        #expect(again.split(separator: "# Onionbell begins").count == 2)
        #expect(again.contains("FSW LLC"))
    }
}
