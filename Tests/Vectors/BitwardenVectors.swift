/// The `bitwarden` part of `seed-systems-vectors.json`.
package struct BitwardenVectors: Decodable, Sendable {
    package struct Configuration: Decodable, Sendable {
        package struct Installation: Decodable, Sendable {
            package let id: String
            package let key: String
        }

        package let apns_topic: String
        package let installations: [String: Installation]
    }

    package struct Token: Decodable, Sendable {
        package struct Request: Decodable, Sendable {
            package let path: String
            package let content_type: String
            package let body: String
        }

        package struct Failure: Decodable, Sendable {
            package let name: String
            package let body: String
            package let status: Int
            package let error: String
        }

        package let request: Request
        package let failures: [Failure]
    }

    /// A registration, or one that is refused.
    package struct Call: Decodable, Sendable {
        package let name: String
        /// `nil`: without a token.
        package let `as`: String?
        package let body: AnyJSON
        package let status: Int
        package let message: String?
    }

    package struct Push: Decodable, Sendable {
        package struct APNs: Decodable, Sendable {
            package let path: String
            package let headers: [String: String]
            package let payload: AnyJSON
        }

        package let apns: APNs?
        package let fcm_message: AnyJSON?
    }

    package struct Send: Decodable, Sendable {
        package struct Expect: Decodable, Sendable {
            package let status: Int
            package let pushes: [Push]
        }

        package let name: String
        package let `as`: String
        package let body: AnyJSON
        package let expect: Expect
    }

    package struct Change: Decodable, Sendable {
        package let name: String
        package let method: String
        package let path: String
        package let `as`: String
        package let body: AnyJSON?
        package let status: Int
        package let then_send: AnyJSON?
        package let then_pushes: [Push]?
    }

    package let config: Configuration
    package let token: Token
    package let registers_in_order: [Call]
    package let register_errors: [Call]
    package let then_sends: [Send]
    package let send_errors: [Call]
    package let then_changes_in_order: [Change]

    package static func read() throws -> BitwardenVectors { try Vectors.seed("bitwarden") }
}
