import Foundation
import JSONCoding
import Testing
import Vectors

/// The part `toot_relay` of `seed-systems-vectors.json`.
struct WebPushVectors: Decodable, Sendable {
    struct Request: Decodable, Sendable {
        var method: String
        var path: String
        var headers: [String: String]
        var body_hex: String

        func encoded(replacing other: [String: String] = [:]) -> [UInt8] {
            let body = bytes(hex: body_hex)
            let fields = headers.merging(other) { $1 }.map { "\($0): \($1)\r\n" }.joined()
            let head = "\(method) \(path) HTTP/1.1\r\nHost: relay.example\r\n\(fields)"
            return Array((head + "Content-Length: \(body.count)\r\n\r\n").utf8) + body
        }
    }

    struct APNs: Decodable, Sendable {
        var environment: String
        var path: String
        var headers: [String: String]
        var headers_absent: [String]
        var headers_optional: [String: String]
        var payload: JSON
    }

    struct Case: Decodable, Sendable, CustomTestStringConvertible {
        struct Expectation: Decodable, Sendable {
            var apns: APNs
            var response_status: Int
        }
        struct Size: Decodable, Sendable {
            var compact_json: Int
        }

        var name: String
        var now: Int64
        var request: Request
        var expect: Expectation
        var payload_bytes: Size?

        var testDescription: String { name }
    }

    struct Refusal: Decodable, Sendable, CustomTestStringConvertible {
        var name: String
        var request: Request
        var advice: String

        var testDescription: String { name }
        /// What the vectors advise; 201 where they advise to take it.
        var status: Int { Int(advice.prefix(3)) ?? 201 }
    }

    struct Leniency: Decodable, Sendable, CustomTestStringConvertible {
        var name: String
        var headers: [String: String]

        var testDescription: String { name }
    }

    struct GatewayFault: Decodable, Sendable, CustomTestStringConvertible {
        var apns_status: Int
        var apns_reason: String
        var advice: String

        var testDescription: String { apns_reason }
    }

    struct ToGoogle: Decodable, Sendable, CustomTestStringConvertible {
        struct Expectation: Decodable, Sendable {
            var fcm_message: JSON
            var response_status: Int
        }

        var name: String
        var request: Request
        var expect: Expectation

        var testDescription: String { name }
    }

    struct Metatext: Decodable, Sendable, CustomTestStringConvertible {
        struct Expectation: Decodable, Sendable {
            var environment: String
            var payload: [String: JSON]
            var feditext_adds: [String: JSON]
            var response_status: Int
        }

        var name: String
        var request: Request
        var expect: Expectation

        var testDescription: String { name }
    }

    struct Largest: Decodable, Sendable {
        var aes128gcm: Int
        var aesgcm: Int
    }

    var cases: [Case]
    var errors: [Refusal]
    var lenient: [Leniency]
    var apns_errors: [GatewayFault]
    var largest_body_that_fits_4096_without_extra: Largest
    var fcm_relay: [ToGoogle]
    var metatext_apns: [Metatext]

    static let all = try! Vectors.seed("toot_relay", as: WebPushVectors.self)
}

/// The part `z85`.
struct Z85Vectors: Decodable, Sendable {
    struct Case: Decodable, Sendable {
        var name: String
        var hex: String
        var z85: String
    }

    var cases: [Case]
}

extension JSON: Decodable {
    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let array = try? value.decode([JSON].self) {
            self = .array(array)
        } else {
            self = .object(JSON.Object(try value.decode([String: JSON].self).map { ($0, $1) }))
        }
    }
}
