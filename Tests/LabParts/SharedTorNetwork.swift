import Lab
import Reactor

/// One private Tor network for a whole process: test suites that run side by side share it, since its start costs 10 s
/// of two cores. Started by the first that asks; it ends with the process and must not be stopped before.
@EventLoop
package enum SharedTorNetwork {
    private static var starting: Task<Result<PrivateTorNetwork, LabError>, Never>?
    private static var clientStarting: Task<Result<LabTor, LabError>, Never>?

    package static func network() async throws(LabError) -> PrivateTorNetwork {
        let task =
            starting
            ?? Task {
                do throws(LabError) { return .success(try await PrivateTorNetwork.start()) } catch {
                    return .failure(error)
                }
            }
        starting = task
        return try await task.value.get()
    }

    /// A client of that network, for all that dial.
    package static func client() async throws(LabError) -> LabTor {
        let task =
            clientStarting
            ?? Task {
                do throws(LabError) { return .success(try await network().startTor()) } catch {
                    return .failure(error)
                }
            }
        clientStarting = task
        return try await task.value.get()
    }
}
