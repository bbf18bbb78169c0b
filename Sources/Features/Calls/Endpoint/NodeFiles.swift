import Doors
import Encodings
import Glibc
import HTTP1
import Node
import Persistence
import Processes
import Reactor

/// The store and the files of a node, for calls that need no running node. A running node carries them out off its event loop,
/// and a command where none runs.
package struct NodeFiles: Sendable {
    package let settings: Settings
    /// The node that asks; `nil`: none does.
    package let running: Running?

    /// A node that runs, as far as a call by files needs it.
    package struct Running {
        /// The file that its settings were read from.
        package let settingsFile: String
        /// How far the wall clock is ahead of the one that dates what it accepts.
        package let clockAhead: Duration
    }

    /// Stands in place of a node that is stopped, or beside one that does not answer.
    package init(_ settings: Settings) { self.init(settings, running: nil) }

    init(_ settings: Settings, running: Running?) {
        (self.settings, self.running) = (settings, running)
    }

    /// The settings that the node that asks would have after a restart; `nil`: none asks, or they can't be read.
    package var settingsAfterRestart: Settings? {
        guard let file = running?.settingsFile else { return nil }
        return try? Settings(file: file, environment: environment, features: settings.built)
    }

    package var stateDirectory: String { settings.stateDirectory }

    /// Answers a call; `nil`: only a running node can do that, or there is no such call.
    package func answer(_ request: HTTPRequest) -> HTTPResponse? {
        guard
            let callPath = NodeCalls.CallPath(
                request.path, among: NodeCalls.all(with: settings.built)),
            let call = try? callPath.call(request.method)
        else {
            return nil
        }
        do throws(CallRefusal) {
            switch call.way {
            case .node, .long: return nil
            case .either(_, stopped: let carry), .store(let carry), .files(let carry):
                let asked = try NodeCalls.Asked(request, callPath.segments, of: call)
                if call.method != "GET" { try refuseStranger() }
                return try carry(self, asked)
            }
        } catch {
            return HTTPResponse(error)
        }
    }

    package func refuseNobody() throws(CallRefusal) {
        guard running == nil, access(stateDirectory, F_OK) != 0, errno == ENOENT else { return }
        throw CallRefusal(
            .unavailable, "never_started",
            "there is no \(stateDirectory) yet: the node creates it when it starts for the first time")
    }

    /// Refuses every user but the owner of the state directory: the node could not read what another one makes there, root
    /// included. Where a node runs, root asks that one.
    package func refuseStranger() throws(CallRefusal) {
        var status = stat()
        guard stat(stateDirectory, &status) == 0 else {
            guard errno != ENOENT else { return }
            throw closed(SystemError("open \(stateDirectory)"))
        }
        guard status.st_uid == geteuid() else {
            throw CallRefusal(
                .foreign, "another_user",
                "\(stateDirectory) belongs to another user: run this as that user, for example sudo -u onionbell onionbell ..."
            )
        }
    }

    private func closed(_ error: SystemError) -> CallRefusal {
        CallRefusal(
            .foreign, "another_user",
            "\(error). Run this as the node's user: sudo -u onionbell onionbell ...")
    }

    // MARK: The store

    /// Opens the registrations, over a connection of its own.
    ///
    /// - Parameter body: Throws a ``CallRefusal`` for what is not to be.
    package func registrations<Value>(
        changing: Bool = false, _ body: (borrowing RegistrationFile) throws -> Value
    ) throws(CallRefusal) -> Value {
        try inStore {
            let store = try settings.store()
            if let path = store.file, access(path, changing ? R_OK | W_OK : R_OK) != 0 {
                throw errno == ENOENT
                    ? CallRefusal(
                        .unavailable, "never_started",
                        "there is no \(path) yet: the node creates it when it starts for the first time")
                    : closed(SystemError("open \(path)"))
            }
            return try body(try RegistrationFile(store, isReadOnly: !changing))
        }
    }

    /// Runs work on the store, and turns each of its faults into a refusal.
    package func inStore<Value>(_ body: () throws -> Value) throws(CallRefusal) -> Value {
        do {
            return try body()
        } catch let error as CallRefusal {
            throw error
        } catch let error as StoreError {
            let path = StateDirectory.outbox(in: stateDirectory)
            throw CallRefusal(.unavailable, "store_failed", "\(error.explained(path: path))")
        } catch let error as NodeError {
            throw CallRefusal(
                error.exitStatus == 78 ? .unconfigured : .unavailable, "store_failed", "\(error)")
        } catch {
            throw CallRefusal(.unavailable, "store_failed", "\(error)")
        }
    }
}
