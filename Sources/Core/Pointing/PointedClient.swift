/// A program that sends notifications to a relay whose address is built in or set, and that can be pointed at a node of
/// one's own without a change of its code.
///
/// Sources: Bisq 1 `MobileNotificationService.java` (`URL`), Haveno's copy of it, Bisq 2 `desktop.conf` and `api_app.conf`
/// (`application.bondedRoles.mobileNotifications`).
package enum PointedClient: String, CaseIterable, Sendable {
    case bisq1
    case haveno
    case bisq2
    /// Bisq 2's trusted node in a container: Docker, Umbrel.
    case bisq2Docker = "bisq2-docker"

    package var name: String {
        switch self {
        case .bisq1: "Bisq 1"
        case .haveno: "Haveno"
        case .bisq2: "Bisq 2"
        case .bisq2Docker: "Bisq 2 in a container"
        }
    }

    /// The onion address that the program calls by itself, without a port.
    package var builtInAddress: String {
        switch self {
        case .bisq1: "bisqpushv56wo32w2dv7xacvvcrnow6gud5vkvftwsgevczmspzvqgad.onion"
        // Of version 2: dead since 2021. tor maps it all the same.
        case .haveno: "jtboonrvwmq7frkj.onion"
        case .bisq2, .bisq2Docker: "6be5uu6ldm3mim2xiyov2m6owzhdlicfobqho5mbpglzio6qt5etyhid.onion"
        }
    }

    /// The file in the program's data directory that ``ConfigurationEdit`` changes.
    package var fileName: String {
        switch self {
        case .bisq1: "bisq.properties"
        case .haveno: "haveno.properties"
        case .bisq2, .bisq2Docker: "bisq.conf"
        }
    }

    /// The program's data directory, as it is on Linux if nobody has moved it.
    package var usualDirectory: String {
        switch self {
        case .bisq1: "~/.local/share/Bisq"
        case .haveno: "~/.local/share/Haveno"
        case .bisq2: "~/.local/share/Bisq2"
        case .bisq2Docker: "/data"
        }
    }
}

/// Which node a client is pointed at.
package struct PointedNode: Equatable, Sendable {
    /// `….onion`, in lower case.
    package let address: String
    /// The port of the node's endpoint for Bisq 2.
    package let bisq2Port: UInt16
    /// Whether the node lets in authorized clients only.
    package let isPrivate: Bool

    package init(address: String, bisq2Port: UInt16 = 8021, isPrivate: Bool = false) {
        self.address = address
        self.bisq2Port = bisq2Port
        self.isPrivate = isPrivate
    }

    var bisq2URL: String { "http://\(address):\(bisq2Port)" }
}

/// The settings that a client's configuration needs to use the node.
package struct PointedSettings: Equatable, Sendable {
    package let client: PointedClient
    package let node: PointedNode
    /// Whether Bisq 2 asks Bisq's own relay when the node fails it.
    package let hasFallback: Bool

    package init(_ client: PointedClient, at node: PointedNode, hasFallback: Bool = false) {
        self.client = client
        self.node = node
        self.hasFallback = hasFallback
    }

    /// tor's line, for its own configuration or for the client's.
    package var mapAddress: String { "MapAddress \(client.builtInAddress) \(node.address)" }

    /// The lines of `bisq.conf`. Both lists are set, so that a list of the file's other lines is not left standing.
    package var bisq2Lines: [String] {
        let key = PointedSettings.bisq2Key
        let fallback =
            hasFallback
            ? #"{url="http://\#(client.builtInAddress):8021",operator="FSW LLC",apiPath="relay"}"# : ""
        return [
            #"\#(key).providers=[{url="\#(node.bisq2URL)",operator="me",apiPath="relay"}]"#,
            "\(key).fallbackProviders=[\(fallback)]",
        ]
    }

    /// The settings as properties of the Java machine: a list is written by the index of its items.
    package var javaOptions: [String] {
        var options = PointedSettings.javaOptions("providers.0", url: node.bisq2URL, operator: "me")
        if hasFallback {
            options += PointedSettings.javaOptions(
                "fallbackProviders.0", url: "http://\(client.builtInAddress):8021", operator: "FSW_LLC")
        }
        return options
    }

    package static let bisq2Key = "application.bondedRoles.mobileNotifications"

    private static func javaOptions(_ item: String, url: String, operator: String) -> [String] {
        [("url", url), ("operator", `operator`), ("apiPath", "relay")].map {
            "-D\(bisq2Key).\(item).\($0)=\($1)"
        }
    }
}
