import Foundation
import Testing

private let chaos = URL(filePath: program).deletingLastPathComponent().appending(path: "onionbell-chaos").path

/// A short run of what `Deploy/tools/chaos` does at length.
@Suite struct ChaosTests {
    @Test(arguments: [1, 2])
    func nothingIsLostOrShownTwiceWhateverIsKilled(seed: Int) throws {
        let log = FileManager.default.temporaryDirectory.path + "/onionbell-chaos-\(UUID().uuidString).log"
        let result = try run(
            [
                chaos, "rounds", "--rounds", seed == 2 ? "3" : "8", "--over-tor", "0", "--seed", "\(seed)",
                "--quick",
                "--torrc",
                projectTorrc, "--log", log,
            ] + (seed == 2 ? [] : ["--lifted-limits"]))
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.hasSuffix("nothing lost, nothing shown twice (seed \(seed))\n"))
    }

    @Test func eachNotificationIsDeliveredPastAGatewayWithFaults() throws {
        let result = try run([chaos, "load", "--notifications", "300", "--quick", "--torrc", projectTorrc])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
    }

    /// What Deploy/tools/chaos poison does for five minutes, at every push service.
    @Test func tokensThatAlwaysFailHoldUpNoOtherPhone() throws {
        let result = try run([
            chaos, "poison", "--sets", "20", "--seconds", "3", "--torrc", projectTorrc,
        ])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.hasSuffix("no other phone waited longer than two pauses\n"))
    }
}

/// The same of other commands, for a process of its own: each waits for most of its time.
@Suite struct ChaosOfRelaysAndReadersTests {
    /// What Deploy/tools/chaos relay does for five minutes: over Tor.
    @Test func bisqsRelayMayDoWhateverItWants() throws {
        let result = try run(
            [
                chaos, "relay", "--quick", "--lasting", "3", "--notifications", "2", "--rounds", "0",
                "--torrc",
                projectTorrc,
            ])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.hasSuffix("nothing lost, nothing twice but after unclear outcomes\n"))
    }

    /// What Deploy/tools/chaos relay does thirty times, with the limits and times that a node has by itself: over Tor.
    @Test func nothingWaitsForEverBetweenTwoUpstreams() throws {
        let log = FileManager.default.temporaryDirectory.path + "/onionbell-relay-\(UUID().uuidString).log"
        let result = try run(
            [
                chaos, "relay", "--only-rounds", "--rounds", "5", "--only", "both", "no connection", "burst",
                "429", "the node", "--seed", "7", "--torrc", projectTorrc, "--log", log,
            ])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.hasSuffix("nothing lost, nothing twice but after unclear outcomes\n"))
    }

    /// What Deploy/tools/chaos mailbox does a hundred times: over Tor.
    @Test func eachReaderOfAMailboxGetsAllInOrder() throws {
        let result = try run(
            [
                chaos, "mailbox", "--rounds", "4", "--quiet", "2", "--burst", "10", "--seed", "3", "--torrc",
                projectTorrc,
            ])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.hasSuffix("nothing lost, all in order (seed 3)\n"))
    }

    /// What Deploy/tools/chaos cluster does a hundred times.
    @Test func severalNodesOnOneDatabaseLoseNothing() throws {
        let log = FileManager.default.temporaryDirectory.path + "/onionbell-cluster-\(UUID().uuidString).log"
        let result = try run(
            [
                chaos, "cluster", "--rounds", "4", "--only", "kill -9 of a node", "transaction", "--devices",
                "12", "--seed", "1", "--torrc", projectTorrc, "--log", log,
            ])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.hasSuffix("nothing lost, nothing twice without a reason (seed 1)\n"))
    }
}

/// The same of restarts, for a process of its own.
@Suite struct ChaosOfRestartsTests {
    /// What Deploy/tools/chaos restarts does a hundred times: over Tor.
    @Test(arguments: ["own", "instance", "system"])
    func nobodyNoticesARestartInPlace(mode: String) throws {
        let result = try run([
            chaos, "restarts", "--restarts", "2", "--mode", mode, "--longest", "0", "--kinds",
            mode == "own" ? "in use" : "crash at start", "--torrc", projectTorrc,
        ])
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.hasSuffix("nothing lost, nobody noticed (seed 1)\n"))
    }
}
