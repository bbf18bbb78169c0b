import ArgumentParser
import CallsCommands
import JSONCoding
import Node
import PhonePage
import Processes
import QR
import Terminal

/// `onionbell phones link`.
package struct PhonesLinkCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Print the link to the phone's page, as text and QR code.",
        discussion: """
            A phone that opens the link subscribes to notifications of this node: the node's VAPID public key stands \
            behind the #. The browser does not send that part to the web server. The link is no secret.

            Exit status: 0 printed, 64 usage, 69 the node has no VAPID key yet, 78 configuration.

            Example: onionbell phones link --page https://phone.example.org/phone/
            """)

    @OptionGroup var config: ConfigOption

    @Option(
        help: ArgumentHelp(
            "The address of the page. By default doors.phone_page.url of the configuration.",
            valueName: "https://..."))
    var page: String?

    @Flag(help: "Print only the link.")
    var textOnly = false

    package func validate() throws {
        guard page.map(PhonePageFeature.isURL) ?? true else {
            throw ValidationError("--page must be https://HOST[:PORT]/PATH/, without ? and #")
        }
    }

    package func run() async throws {
        let page = try page ?? config.settings().feature(PhonePageFeature.self)?.url ?? ""
        guard !page.isEmpty else {
            throw fail(
                "where is the page? Give its address as --page, or set doors.phone_page.url", status: 64)
        }
        let key = try await config.call("GET", "keys/vapid", refusal: 69)
        let link = "\(page)#k=\(key?["public_key"]?.string ?? "")"
        printLine(link)
        guard !textOnly else { return }
        do {
            for line in try QRCode(link).lines(coloured: hasColours) { printLine(line) }
        } catch {
            throw fail("\(error)", status: 64)
        }
    }

    package init() {}
}
