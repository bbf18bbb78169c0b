import Encodings
import HTTP1
import Node
import Reactor

extension NodeCalls {
    /// One call: what it is in words and shapes, and what carries it out.
    package struct Call: Sendable {
        package typealias Run =
            @EventLoop @Sendable (NodeCalls, Asked) async throws(CallRefusal) -> HTTPResponse
        package typealias Carry = @Sendable (NodeFiles, Asked) throws(CallRefusal) -> HTTPResponse

        package enum Way: Sendable {
            /// Carried out by a node that runs.
            case node(Run)
            /// Carried out by a node that runs, with a long body that the call reads itself, off the loop.
            case long(@EventLoop @Sendable (NodeCalls, LongBody) async throws(CallRefusal) -> HTTPResponse)
            /// Carried out by the running node, or by files where none runs.
            case either(Run, stopped: Carry)
            /// Carried out by the store, whether a node runs or not.
            case store(Carry)
            /// Carried out by files of the state directory, whether a node runs or not.
            case files(Carry)
        }

        package let text: CallText
        let way: Way

        package init(_ text: CallText, by way: Way) { (self.text, self.way) = (text, way) }

        var method: String { text.method }
        var path: [String] { text.path }

        /// Whether a segment of its path stands for any value.
        static func isPlace(_ segment: String) -> Bool { segment.utf8.first == UInt8(ascii: "{") }
    }

    /// The arguments of a call.
    package struct Asked: Sendable {
        /// The parts of the path that stand for places such as `{name}`, in their order.
        package let segments: [String]
        /// The members of the body, or of the query where there is none.
        package let body: CallBody

        /// The first of them; empty where there is none.
        package var segment: String { segments.first ?? "" }

        init(_ request: HTTPRequest, _ segments: [String], of call: Call) throws(CallRefusal) {
            self.segments = segments
            body =
                call.method == "GET" && request.body.isEmpty
                ? try CallBody(query: request.query ?? "", as: call.text.asks)
                : try CallBody(request.body, as: call.text.asks)
        }
    }

    /// A body that takes a while to read.
    package struct LongBody: Sendable {
        let bytes: [UInt8]
        let asks: CallShape

        package func read() throws(CallRefusal) -> CallBody { try CallBody(bytes, as: asks) }
    }

    /// A path that has calls, and those calls.
    struct CallPath: Sendable {
        let calls: [Call]
        let segments: [String]

        /// Bytes: a name has 40 letters of up to four bytes, each written as three.
        private static let longestPath = 640

        /// Reads a path and finds its calls among all; `nil`: there are none.
        init?(_ path: String, among all: [Call]) {
            guard path.hasPrefix(NodeCalls.prefix), path.utf8.count <= Self.longestPath else { return nil }
            var segments: [String] = []
            for part in path.utf8.dropFirst(NodeCalls.prefix.utf8.count).split(
                separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            {
                guard let segment = try? String(percentEncoded: Array(part).span) else { return nil }
                segments.append(segment)
            }
            let fitting = all.filter { call in
                call.path.count == segments.count
                    && zip(call.path, segments).allSatisfy {
                        Call.isPlace($0) ? !$1.isEmpty : $1.hasSameBytes(as: $0)
                    }
            }
            // A word of a path is no name.
            let exact = fitting.filter { !$0.path.contains(where: Call.isPlace) }
            calls = exact.isEmpty ? fitting : exact
            guard let any = calls.first else { return nil }
            self.segments = any.path.indices.filter { Call.isPlace(any.path[$0]) }.map { segments[$0] }
        }

        /// Returns the call with this method; HEAD has that of GET.
        ///
        /// - Throws: Nothing here has this method.
        func call(_ method: String) throws(Refusal) -> Call {
            let method = method == "HEAD" ? "GET" : method
            guard let call = calls.first(where: { $0.method == method }) else {
                throw Refusal(allowed: calls.map(\.method).joined(separator: ", "))
            }
            return call
        }

        struct Refusal: Error {
            let allowed: String
        }
    }
}
