import Doors
import HTTP1

/// Why what the owner asked for is not done: a kind for programs that decide by it, a word, and a sentence for people.
///
/// Commands and calls share it: the one ends with ``exitStatus``, the other answers with ``status``.
package struct CallRefusal: Error {
    package enum Kind: String, CaseIterable, Sendable {
        /// The request itself is none.
        case malformed
        /// The thing that the call names is not there.
        case absent
        /// Something that is there already forbids it.
        case conflict
        /// The values can't be used.
        case unfit
        /// The settings have no place for it.
        case unconfigured
        /// Something the node needs is missing or does not answer.
        case unavailable
        /// A moment has to pass, or a restart has to come first. Nothing was done.
        case early
        /// The node's files are another user's of this machine.
        case foreign

        /// The exit status of a command (sysexits.h).
        package var exitStatus: Int32 {
            switch self {
            case .malformed: 64
            case .absent, .conflict: 1
            case .unfit: 65
            case .unavailable: 69
            case .early: 75
            case .foreign: 77
            case .unconfigured: 78
            }
        }
    }

    package let kind: Kind
    /// `name_taken`: stays the same from version to version.
    package let word: String
    package let sentence: String

    package init(_ kind: Kind, _ word: String, _ sentence: String) {
        (self.kind, self.word, self.sentence) = (kind, word, sentence)
    }

    /// The status of an HTTP answer.
    package var status: Int {
        switch kind {
        case .malformed: 400
        case .absent: 404
        case .conflict, .unconfigured: 409
        case .foreign: 403
        case .unfit: 422
        case .unavailable, .early: 503
        }
    }

    package var exitStatus: Int32 { kind.exitStatus }
}

extension HTTPResponse {
    /// Makes the answer of a refusal. By its kind a command knows its exit status.
    package init(_ refusal: CallRefusal) {
        self.init(
            status: refusal.status,
            json: [
                "code": .string(refusal.word), "message": .string(refusal.sentence),
                "kind": .string(refusal.kind.rawValue),
            ])
    }
}

extension CallRefusal: CustomStringConvertible {
    package var description: String { sentence }
}
