import Encodings
import HTTP1
import Reactor

extension NodeCalls {
    /// One call: a method, a path, and what it does.
    struct Call: Sendable {
        typealias Run =
            @EventLoop @Sendable (NodeCalls, Asked) async throws(CallRefusal) -> HTTPResponse
        typealias Carry = @Sendable (NodeFiles, Asked) throws(CallRefusal) -> HTTPResponse

        enum Way: Sendable {
            /// Carried out by a node that runs.
            case node(Run)
            /// Carried out by the running node, or by files where none runs.
            case either(Run, stopped: Carry)
            /// Carried out by the store, whether a node runs or not.
            case store(Carry)
            /// Carried out by files of the state directory, whether a node runs or not.
            case files(Carry)
        }

        let method: String
        /// Below `/api/v1/`; `{}` stands for any segment.
        let path: [String]
        /// Whether the body may be long, and is read by the call itself, off the loop.
        let isLong: Bool
        let way: Way

        init(_ method: String, _ path: String..., isLong: Bool = false, run: @escaping Run) {
            (self.method, self.path, self.isLong, way) = (method, path, isLong, .node(run))
        }

        init(_ method: String, _ path: String..., stopped: @escaping Carry, run: @escaping Run) {
            (self.method, self.path, isLong, way) = (method, path, false, .either(run, stopped: stopped))
        }

        private init(_ method: String, _ path: [String], _ way: Way) {
            (self.method, self.path, isLong, self.way) = (method, path, false, way)
        }

        static func store(_ method: String, _ path: String..., carry: @escaping Carry) -> Call {
            Call(method, path, .store(carry))
        }

        static func files(_ method: String, _ path: String..., carry: @escaping Carry) -> Call {
            Call(method, path, .files(carry))
        }
    }

    /// The arguments of a call.
    struct Asked: Sendable {
        /// The parts of the path that stand for `{}`, in their order.
        let segments: [String]
        /// Empty for a long call. What has no body has its members in the query.
        let body: CallBody
        let bytes: [UInt8]

        /// The first of them; empty where there is none.
        var segment: String { segments.first ?? "" }

        init(_ request: HTTPRequest, _ segments: [String], of call: Call) throws(CallRefusal) {
            self.segments = segments
            bytes = request.body
            body =
                call.method == "GET" && bytes.isEmpty
                ? try CallBody(query: request.query ?? "") : try CallBody(call.isLong ? [] : bytes)
        }
    }

    /// A path that has calls, and those calls.
    struct CallPath: Sendable {
        let calls: [Call]
        let segments: [String]

        /// Reads a path and finds its calls; `nil`: there are none.
        init?(_ path: String) {
            guard path.hasPrefix(NodeCalls.prefix), path.utf8.count <= 200 else { return nil }
            var segments: [String] = []
            for part in path.utf8.dropFirst(NodeCalls.prefix.utf8.count).split(
                separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            {
                guard let segment = try? String(percentEncoded: Array(part).span) else { return nil }
                segments.append(segment)
            }
            let fitting = NodeCalls.all.filter { call in
                call.path.count == segments.count
                    && zip(call.path, segments).allSatisfy {
                        $0 == "{}" ? !$1.isEmpty : $1.hasSameBytes(as: $0)
                    }
            }
            // A word of a path is no name.
            let exact = fitting.filter { !$0.path.contains("{}") }
            calls = exact.isEmpty ? fitting : exact
            guard let any = calls.first else { return nil }
            self.segments = any.path.indices.filter { any.path[$0] == "{}" }.map { segments[$0] }
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
