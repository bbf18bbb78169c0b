import Client
import Encodings
import Foundation
import JSONCoding
import Lab
import Reactor
import Testing
import Vectors
import Wire

/// The sender in Java, compiled as its head tells, with the example of its article, and its contract beside one that has
/// Bisq's names.
private enum JavaSender {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardized.path
    static let library = "/usr/share/java/protobuf.jar"
    static let isPossible = ["/usr/bin/java", "/usr/bin/javac", "/usr/bin/protoc", library]
        .allSatisfy { FileManager.default.fileExists(atPath: $0) }

    /// Bisq's package and Java package, and some of its names that the contract has as well.
    private static let bisqs = """
        syntax = "proto3";
        package io.bisq.protobuffer;
        option java_package = "protobuf";
        option java_multiple_files = true;
        message NetworkEnvelope {
            int32 message_version = 1;
            oneof message { Ping ping = 7; BundleOfEnvelopes bundle_of_envelopes = 43; }
        }
        message Ping { int32 nonce = 1; }
        message BundleOfEnvelopes { repeated NetworkEnvelope envelopes = 1; }
        message NodeAddress { string host_name = 1; int32 port = 2; }
        """

    /// What stands around the example of the article.
    private static let bisqsPart = """
        import onionbell.protobuf.*;
        abstract class Example {
            interface Log { void warn(String line); }
            Log log;
            abstract java.net.InetSocketAddress torsSocksPort();
            abstract void askToPairAgain();
            void ring(String address, String deviceToken, String encrypted) {

        """

    /// The folder of the classes, or why there is none. The first one who asks waits.
    static let classes = Result { () throws -> String in
        let folder = root + "/.build/java"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bisqs.utf8).write(to: URL(filePath: folder + "/pb.proto"))
        _ = try ProgramRun([
            "protoc", "--java_out=\(folder)", "--proto_path=\(folder)",
            "--proto_path=\(root)/Sources/Core/Wire",
            "pb.proto", "onionbell.proto",
        ]).succeeded()
        let made = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
            $0.hasSuffix(".java")
        }
        let javac = ["javac", "-J-XX:TieredStopAtLevel=1", "-d", folder, "-cp", "\(folder):\(library)"]
        _ = try ProgramRun(javac + ["-nowarn", "-proc:none"] + made.map { "\(folder)/\($0)" }).succeeded()
        let sender = root + "/Deploy/examples/OnionbellSender.java"
        let article = try String(
            contentsOfFile: root + "/Sources/Programs/Onionbell/Onionbell.docc/SpeakingToAnOnionbell.md",
            encoding: .utf8)
        let example = article.components(separatedBy: "```java\n")[1].components(separatedBy: "```")[0]
        try Data("\(bisqsPart)\(example)}}".utf8).write(to: URL(filePath: folder + "/Example.java"))
        let lint = ["-Xlint:all", "-Werror"]
        _ = try ProgramRun(javac + lint + [sender, folder + "/Example.java"]).succeeded()
        return folder
    }
}

/// `Deploy/examples/OnionbellSender.java`: over Tor, to a node that nobody prepared for it.
@EventLoop
@Suite(
    .serialized,
    .enabled(
        if: JavaSender.isPossible,
        "no JDK with protobuf-java and protoc is installed: Deploy/tools/dependencies test"))
struct JavaSenderTests {
    /// Off this thread: the simulated gateways live on its loop.
    private func send(
        _ input: String, to address: String, by socks: Endpoint, _ more: [String] = []
    ) async throws -> CommandResult {
        let running = Task.detached {
            try run(
                [
                    "java", "-XX:TieredStopAtLevel=1", "-cp",
                    "\(try JavaSender.classes.get()):\(JavaSender.library)",
                    "OnionbellSender", "--to", address, "--socks", "\(socks)", "--timeout", "999999",
                ] + more, input: input, environment: ["LC_ALL": "C.UTF-8"])
        }
        return try await withTaskCancellationHandler {
            try await running.value
        } onCancel: {
            running.cancel()
        }
    }

    private func encrypted(_ push: AcceptedPush, _ platform: Platform) throws -> String {
        let body = try JSON(push.body)
        return try #require(
            (platform == .android ? body["message"]?["data"]?["encrypted"] : body["encrypted"])?.string)
    }

    /// Bisq has one run of protoc for all its contracts, and one program.
    @Test func theContractCompilesBesideBisqs() async throws {
        let folder = try await Task.detached { try JavaSender.classes.get() }.value
        for package in ["protobuf", "onionbell/protobuf"] {
            for name in ["NetworkEnvelope", "Ping", "BundleOfEnvelopes", "NodeAddress"] {
                let file = "\(folder)/\(package)/\(name).class"
                #expect(FileManager.default.fileExists(atPath: file), "\(file)")
            }
        }
    }

    @Test func bothKindsOfPhoneOpenWhatItSealsForEitherBisq() async throws {
        let stage = try await NodeTests.Stage()
        let (title, message) = ("Grüße 🐘", "\"quoted\" \\ and\nbroken\tup")
        for platform in [Platform.ios, .iosDev, .android] {
            let phone = try Phone.new(platform, descriptor: "iPhone X")
            let waiter = stage.world.nextPush(to: phone)
            let texts = ["--title", title, "--message", message]
            let first = try await send(phone.pairingToken.text, to: stage.address, by: stage.socks, texts)
            #expect(first.status == 0 && first.output == "DELIVERED\n", "\(first.errors)")
            let (push, _) = try #require(await waiter.wait(for: theRun))
            let opened = try phone.open(try encrypted(push, platform))
            #expect(opened.title == title && opened.message == message && opened.kind == .trade)

            let key = [UInt8](32..<64)
            let connect = try ConnectPhone(
                platform: platform, deviceToken: phone.pairingToken.deviceToken, key: key)
            let next = stage.world.nextPush(to: phone)
            let second = try await send(
                "\(phone.pairingToken.text)\n\(Data(key).base64EncodedString())\n", to: stage.address,
                by: stage.socks, texts)
            #expect(second.status == 0 && second.output == "DELIVERED\n", "\(second.errors)")
            let (pushOfBisq2, _) = try #require(await next.wait(for: theRun))
            let shown = try connect.open(try encrypted(pushOfBisq2, platform))
            #expect(shown.title == title && shown.message == message && shown.category == .tradeUpdate)
        }
        await stage.close()
    }

    /// More at once than one phone may get in a second: those that are `BUSY` go over the same connection again.
    @Test func severalGoOverOneConnectionAndEachArrivesOnce() async throws {
        let stage = try await NodeTests.Stage()
        let passage = try Passage(to: stage.socks)
        let phone = try Phone.new(.android, descriptor: "Pixel")
        let texts = (1...8).map(String.init)
        let result = try await send(
            phone.pairingToken.text, to: stage.address, by: passage.endpoint,
            texts.flatMap { ["--message", $0] })
        #expect(result.output == String(repeating: "DELIVERED\n", count: 8), "\(result.errors)")
        #expect(passage.accepted == 1)
        let shown = try stage.world.google.book.map { try phone.open(try encrypted($0, .android)).message }
        #expect(shown.sorted() == texts)
        passage.close()
        await stage.close()
    }

    @Test func anAnswerThatIsLostWithItsConnectionRingsNobodyTwice() async throws {
        let stage = try await NodeTests.Stage()
        // The answers of SOCKS: to the offer of a name, to the name, to the request.
        let passage = try Passage(to: stage.socks, firstIsBrought: 2 + 2 + 10)
        let phone = try Phone.new(.android, descriptor: "Pixel")
        let result = try await send(phone.pairingToken.text, to: stage.address, by: passage.endpoint)
        #expect(result.output == "DELIVERED\n", "\(result.errors)")
        #expect(passage.accepted == 2)
        #expect(stage.world.google.book.count == 1)
        passage.close()
        await stage.close()
    }

    @Test func anOutcomeIsToldByTheNodeThatWasKilledBeforeIt() async throws {
        let stage = try await NodeTests.Stage()
        stage.world.google.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        let phone = try Phone.new(.android, descriptor: "Pixel")
        async let result = send(phone.pairingToken.text, to: stage.address, by: stage.socks)
        try await until { stage.world.google.figures.requests > 0 }
        await stage.node.kill()
        stage.world.google.faults = FaultScript()
        try await stage.startAgain()
        let (output, errors) = try await (result.output, result.errors)
        #expect(output == "DELIVERED\n" && errors.contains("not yet: "), "\(errors)")
        #expect(stage.world.google.book.count == 1)
        await stage.close()
    }

    @Test func refusalsAndDeadTokensAreToldWithTheirReasons() async throws {
        let stage = try await NodeTests.Stage()
        stage.world.google.faults = FaultScript([
            FaultRule(.answer(status: 404, reason: "UNREGISTERED"), times: 1)
        ])
        let phone = try Phone.new(.android, descriptor: "Pixel")
        let dead = try await send(phone.pairingToken.text, to: stage.address, by: stage.socks)
        #expect(dead.status == 1 && dead.output == "TOKEN_DEAD UNREGISTERED\n", "\(dead.errors)")
        let token = "android|x|\(String(repeating: "k", count: 32))|\(String(repeating: "!", count: 40))"
        let bad = try await send(token, to: stage.address, by: stage.socks)
        #expect(bad.status == 1 && bad.output == "REFUSED BadDeviceToken\n", "\(bad.errors)")
        let long = ["--message", String(repeating: "x", count: 10_000)]
        let other = try Phone.new(.android, descriptor: "Pixel").pairingToken.text
        let large = try await send(other, to: stage.address, by: stage.socks, long)
        #expect(
            large.status == 1 && large.output == "REFUSED MessageTooLarge\n",
            "\(large.output) \(large.errors)")
        await stage.close()
    }

    /// A node of another network says so for ever, and one that cannot read us as well: nobody asks again.
    @Test(arguments: [PeerClose.wrongNetworkID, .invalidDataType, .messageTooLarge])
    func aFarewellThatNeverChangesEndsIt(reason: PeerClose) async throws {
        let peer = try ClosingPeer(saying: reason)
        let phone = try Phone.new(.android, descriptor: "Pixel").pairingToken.text
        let result = try await send(
            phone, to: peer.address, by: .host("127.0.0.1", port: 9), ["--message", "a", "--message", "b"])
        let word = try #require(reason.word)
        #expect(result.status == 1 && peer.accepted == 1, "\(result.errors)")
        #expect(
            result.output
                == String(repeating: "given up: the node closes: \(word)\n", count: 2))
        peer.close()
    }

    @Test func whatIsWrongWithItsInputIsSaidInALine() async throws {
        let phone = try Phone.new(.android, descriptor: "Pixel").pairingToken.text
        let (onion, socks) = (
            String(repeating: "a", count: 56) + ".onion", Endpoint.host("127.0.0.1", port: 9)
        )
        let cases: [(input: String, address: String, more: [String])] = [
            ("", onion, []), ("android|x|short|x", onion, []), (phone + "\nno key", onion, []),
            ("\u{0}\u{1B}", onion, []), (phone, "bisq.network", []), (phone, onion + ":0", []),
            (phone, onion + ":99999999999", []), (phone, onion, ["--socks", "localhost:9050"]),
            (phone, onion, ["--socks", "1.2.3.256:1"]), (phone, onion, ["--network", "ten"]),
            (phone, onion, ["--unknown", "x"]), (phone, onion, ["--title"]),
            (phone, onion, ["--message", String(repeating: "x", count: 60_000)]),
        ]
        for (input, address, more) in cases {
            let result = try await send(input, to: address, by: socks, more)
            #expect(result.status == 64 && result.output.isEmpty, "\(address) \(more)")
            #expect(result.errors.split(separator: "\n").count == 1, "\(address) \(more): \(result.errors)")
            #expect(!result.errors.contains("Exception"), "\(result.errors)")
        }
        let help = try await send("", to: onion, by: socks, ["--help"])
        #expect(help.status == 0 && help.output.hasPrefix("usage: "))
    }
}
