import ArgumentParser
import Glibc
import Node
import Tor

/// Finds the invitations of a configured node.
struct InvitationsOption: ParsableArguments {
    @OptionGroup var config: ConfigOption

    /// What a command refuses that cannot be done, by whatever way.
    static let refusal: Int32 = 65

    /// The node, if it runs and takes calls: what is done by it is so at once. `nil`: the files are changed without it.
    func runningNode() throws -> NodeSocket? {
        let directory = try config.settings().stateDirectory
        guard access(StateDirectory.statusSocket(in: directory), R_OK | W_OK) == 0 else { return nil }
        do {
            if let stopped = try StateDirectory(ofStoppedNode: directory) {
                _ = consume stopped
                return nil
            }
        } catch {
            return nil
        }
        return try NodeSocket(config)
    }

    /// Runs as the node's user only; a running node takes changes over by itself. Every failure becomes a sentence and
    /// an exit status.
    ///
    /// - Parameter place: Where they are, in the state directory.
    func use(
        at place: (_ stateDirectory: String) -> String = { StateDirectory.peers(in: $0) },
        _ body: (Invitations, _ stateDirectory: String) throws -> Void
    ) throws {
        let directory = try config.settings().stateDirectory
        guard access(directory, F_OK) == 0 else {
            throw fail("there is no \(directory) yet: the node creates it at its first start", status: 69)
        }
        do {
            // For its check of the owner: what root makes here the node could not read.
            _ = try StateDirectory(ofStoppedNode: directory)
            try body(Invitations(path: place(directory)), directory)
        } catch let error as NodeError {
            throw fail(error, status: error.exitStatus)
        } catch let error as InvitationError {
            throw fail(error, status: error.isWish ? 65 : 69)
        } catch let error as OnionKeyFileError {
            throw fail(error, status: 69)
        }
    }
}

extension InvitationError {
    /// Whether something else must be asked for; otherwise files are at fault.
    fileprivate var isWish: Bool {
        switch self {
        case .unfitName, .invitedAlready, .notInvited, .tooMany: true
        case .system: false
        }
    }
}
