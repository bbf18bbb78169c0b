import Lab
import Reactor
import Tor

/// The private Tor network that the tests of this module share: started by the first one that needs it, ended with the
/// test process, since its tors are children of it.
@EventLoop
enum SharedNetwork {
    private static var starting: Task<PrivateTorNetwork, any Error>?
    private static var clientStarting: Task<LabTor, any Error>?

    static func network() async throws -> PrivateTorNetwork {
        if let starting { return try await starting.value }
        let begun = ContinuousClock.now
        let task = Task {
            try await PrivateTorNetwork.start { words in
                print("network \(ContinuousClock.now - begun): \(words)")
            }
        }
        starting = task
        let network = try await task.value
        print("network up after \(ContinuousClock.now - begun)")
        return network
    }

    /// A client that dials the tests' services.
    static func client() async throws -> LabTor {
        if let clientStarting { return try await clientStarting.value }
        let task = Task {
            let network = try await network()
            let begun = ContinuousClock.now
            let client = try await network.startTor()
            print("client in the network after \(ContinuousClock.now - begun)")
            return client
        }
        clientStarting = task
        return try await task.value
    }
}
