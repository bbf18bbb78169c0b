import Node

/// A call in words and shapes: all that a program needs to make it. The request is read by it, and its part of the document
/// (``CallDocument``) is made of it.
package struct CallText: Sendable {
    /// The callers that may make a call.
    package enum Caller: Sendable {
        case session
        /// A session, or a token of a widget.
        case widget
        case anybody
    }

    /// The answer to a call that was carried out.
    package enum Answer: Sendable {
        case json(_ status: Int, _ words: String, CallShape)
        /// Nothing but the status 204.
        case done(_ words: String)
        case text(_ words: String)
        case html(_ words: String)
        case file(_ words: String)
        case stream(_ words: String)
        /// Entered: 204 with the cookie of the session.
        case session(_ words: String)

        package static func json(_ words: String, _ shape: CallShape) -> Answer { .json(200, words, shape) }
        package static func made(_ words: String, _ shape: CallShape) -> Answer { .json(201, words, shape) }
    }

    /// `POST`.
    let method: String
    /// The segments below `/api/v1/`; `{name}` stands for any value of the shape of this word.
    let path: [String]
    /// The name of the call, once in the document: `addPhone`.
    let name: String
    /// A sentence or two on what the call does.
    let summary: String
    var more: String? = nil
    /// The members of its body, or of its query where it is a GET.
    var asks: CallShape = [:]
    let answer: Answer
    /// The kinds of refusals, besides those of every call.
    var refuses: [CallRefusal.Kind] = []
    var caller = Caller.session

    /// Describes a call.
    ///
    /// - Parameter line: The method, a space, and the path below `/api/v1/`.
    package init(
        _ line: StaticString, _ name: String, _ summary: String, more: String? = nil, asks: CallShape = [:],
        answer: Answer, refuses: [CallRefusal.Kind] = [], caller: Caller = .session
    ) {
        let words = "\(line)".split(separator: " ")
        method = String(words[0])
        path = words[1].split(separator: "/").map { String($0) }
        (self.name, self.summary, self.more, self.asks) = (name, summary, more, asks)
        (self.answer, self.refuses, self.caller) = (answer, refuses, caller)
    }

    /// The shapes of what stands in paths.
    static let inPaths: [(word: String, shape: CallShape)] = [
        ("{number}", .number(from: 1)), ("{name}", .phoneName), ("{peer}", .peerName), ("{publisher}", .name),
        ("{kind}", .text(0...200, pattern: "^[a-z]{1,32}$")),
        ("{id}", .text(0...200, pattern: "^[A-Za-z0-9._-]{1,100}$")),
    ]
}
