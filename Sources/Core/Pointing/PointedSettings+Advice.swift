/// The advice that `onionbell point` prints.
extension PointedSettings {
    /// Paragraphs and lines to copy, which are indented by four blanks. No line is longer than what has to be copied.
    package var advice: String {
        let parts = [heading] + ways + [privateNode, fallback, evidence].compactMap(\.self)
        return parts.joined(separator: "\n\n") + "\n"
    }

    private var heading: String { "\(client.name): send notifications to \(node.address)" }

    private var ways: [String] {
        switch client {
        case .bisq1, .haveno: torWays
        case .bisq2: bisq2Ways
        case .bisq2Docker: containerWays
        }
    }

    private var torWays: [String] {
        [
            """
            1. Add this line to \(client.fileName) in the data directory (on Linux: \(client.usualDirectory)):

                torrcOptions=\(mapAddress)

               This does it for you and shows the change first:

                onionbell point \(client.rawValue) --to \(node.address) --write \(client.usualDirectory)
            """,
            """
            2. Or start the program with this option:

                --torrcOptions="\(mapAddress)"
            """,
            """
            3. Or, if the program uses a tor of your own (--torControlPort), add this line to that tor's torrc and
               reload tor. The two ways above don't work then.

                \(mapAddress)
            """,
            "Restart the program afterwards. It keeps one MapAddress line only.",
        ]
    }

    private var bisq2Ways: [String] {
        [
            """
            1. Add these lines to bisq.conf in the data directory (on Linux: \(client.usualDirectory); a trusted node
               without a desktop: Bisq2_api in place of Bisq2):

            \(indented(bisq2Lines))

               This does it for you and shows the change first:

                onionbell point bisq2 --to \(node.address)\(hasFallback ? " --fallback" : "") --write \(client.usualDirectory)
            """,
            """
            2. Or start the program with these options:

            \(indented(javaOptions.map { $0.dropFirst(2) }.map { "--\($0)" }))
            """,
            "Restart the program afterwards.",
        ]
    }

    private var containerWays: [String] {
        [
            """
            1. Set JAVA_OPTS for the container (Docker: -e or environment; Umbrel: docker-compose.yml of the app):

                JAVA_OPTS=\(javaOptions.joined(separator: " "))
            """,
            """
            2. Or add these lines to \(client.usualDirectory)/bisq.conf in the container:

            \(indented(bisq2Lines))

               With the directory DIR that the container has as \(client.usualDirectory), this does it for you and shows the change
               first:

                onionbell point bisq2-docker --to \(node.address)\(hasFallback ? " --fallback" : "") --write DIR
            """,
            "Restart the container afterwards.",
        ]
    }

    private var privateNode: String? {
        guard node.isPrivate else { return nil }
        let (place, line) =
            switch client {
            case .bisq1, .haveno: ("In place of the option above", "\(mapAddress),ClientOnionAuthDir DIR")
            case .bisq2, .bisq2Docker:
                (
                    "Add this line to bisq.conf as well",
                    #"application.network.configByTransportType.tor.torrcOverrides={ClientOnionAuthDir="DIR"}"#
                )
            }
        return """
            This node is private: only invited clients reach it. On the node:

                onionbell invite NAME

            Put the .auth_private file that it describes into a directory DIR that only the program can read.
            \(place):

                \(line)

            With a tor of your own add this line to its torrc:

                ClientOnionAuthDir DIR
            """
    }

    /// The price of a fallback, in words; `nil`: there is none.
    package var fallback: String? {
        guard hasFallback else { return nil }
        return """
            With --fallback Bisq 2 asks Bisq's own relay when your node fails. One failure is enough: it then leaves
            your node for all phones, until it is restarted or that relay fails as well. Up to Bisq 2.1.12 every answer
            but success counts as a failure, so the first dead device token does it; in newer ones 503, 429, a time-out
            and a broken connection do. So Bisq's relay then sees the same device token, also one that only your node can use.
            """
    }

    /// Says what is known to work, and how it is known.
    private var evidence: String {
        switch client {
        case .bisq1:
            """
            Tried: tor follows this line. Not tried: no running Bisq was seen to take it.
            """
        case .haveno:
            """
            Tried: tor follows this line. Not tried: no running Haveno was seen to take it. Today's Haveno shows no
            page for pairing a phone: that needs a release of Haveno.
            """
        case .bisq2, .bisq2Docker:
            """
            Tried: the library that reads Bisq 2's configuration takes these lines. Not tried: no running Bisq 2 was
            seen to take them.
            """
        }
    }

    private func indented(_ lines: [String]) -> String {
        lines.map { "    \($0)" }.joined(separator: "\n")
    }
}
