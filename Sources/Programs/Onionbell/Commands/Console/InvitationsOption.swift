import ArgumentParser
import Glibc
import Node
import Tor

/// Who may find the console's onion address.
struct InvitationsOption: ParsableArguments {
    @OptionGroup var config: ConfigOption

    /// Runs as the node's user only; a running node takes changes over by itself. Every failure becomes a sentence and
    /// an exit status.
    ///
    /// - Parameter body: Gets the state directory, too.
    func use(_ body: (Invitations, _ stateDirectory: String) throws -> Void) throws {
        let directory = try config.settings().stateDirectory
        guard access(directory, F_OK) == 0 else {
            throw fail("there is no \(directory) yet: the node creates it at its first start", status: 69)
        }
        do {
            // For its check of the owner: what root makes here the node could not read.
            _ = try StateDirectory(ofStoppedNode: directory)
            try body(Invitations(path: StateDirectory.consoleClients(in: directory)), directory)
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
