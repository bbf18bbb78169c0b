/// The `status` part of `seed-systems-vectors.json`, made by independent Python code.
package struct StatusIMVectors: Decodable, Sendable {
    package struct Key: Decodable, Sendable {
        package let private_hex: String
        package let public_compressed_hex: String
        package let public_uncompressed_hex: String
        package let shake256_of_compressed_hex: String
    }

    package struct Hash: Decodable, Sendable {
        package let hex: String
        package let digest_hex: String
    }

    package struct ChatID: Decodable, Sendable {
        package let chat_id: String
        package let hash_hex: String
    }

    package struct Hashes: Decodable, Sendable {
        package let keccak256: [Hash]
        package let shake256_64_bytes: [Hash]
        package let chat_ids: [ChatID]
    }

    package struct ECDH: Decodable, Sendable {
        package let name: String
        package let private_hex: String
        package let public_compressed_hex: String
        package let shared_hex: String
    }

    package struct Sealed: Decodable, Sendable {
        package let name: String
        package let key_hex: String
        package let plain_hex: String?
        package let sealed_hex: String
        package let opens: Bool
    }

    package struct Grant: Decodable, Sendable {
        package struct Case: Decodable, Sendable {
            package let name: String
            package let grant_hex: String
            package let valid: Bool
        }

        package let access_token: String
        package let digest_hex: String
        package let cases: [Case]
    }

    package struct AllowedKey: Decodable, Sendable {
        package let access_token: String
        package let contact_private_hex: String
        package let client_public_compressed_hex: String
        package let entry_hex: String
    }

    package struct Message: Decodable, Sendable {
        package let example_payload_hex: String
        package let example_message_hex: String
        package let example_message_id_hex: String
    }

    package struct Registration: Decodable, Sendable {
        package struct Expect: Decodable, Sendable {
            package let success: Bool
            package let error: UInt64
            package let request_id_hex: String
            package let response_payload_hex: String
            package let response_message_example_hex: String
        }

        package let name: String
        package let registration_hex: String?
        package let encrypted_hex: String
        package let message_hex: String
        package let frame_hex: String
        package let expect: Expect
    }

    package struct Query: Decodable, Sendable {
        package struct Expect: Decodable, Sendable {
            package let answered: Bool
            package let response_payload_hex: String?
        }

        package let name: String
        package let query_hex: String
        package let message_hex: String
        package let frame_hex: String
        package let message_id_hex: String
        package let expect: Expect
    }

    package struct Request: Decodable, Sendable {
        package struct Expect: Decodable, Sendable {
            package let answered: Bool
            package let pushes: [PushVector]
            package let response_payload_hex: String?
        }

        package let name: String
        package let request_hex: String
        package let message_hex: String
        package let frame_hex: String
        package let dedup_id_hex: String
        package let expect: Expect
    }

    package let keys: [String: Key]
    package let hashes: Hashes
    package let ecdh: [ECDH]
    package let aes_256_gcm: [Sealed]
    package let grant: Grant
    package let allowed_key_list_entry: AllowedKey
    package let message: Message
    package let registrations_in_order: [Registration]
    package let then_queries: [Query]
    package let then_requests_in_order: [Request]
    package let then_unregister_in_order: [Registration]
    package let then_request: Request
    package let waku_for_reference: [String: String]

    package static func read() throws -> StatusIMVectors { try Vectors.seed("status") }
}

/// What a gateway is to receive.
package struct PushVector: Decodable, Sendable {
    package struct APNs: Decodable, Sendable {
        package let environment: String?
        package let path: String
        package let headers: [String: String]
        package let headers_absent: [String]
        package let payload: AnyJSON
    }

    package let apns: APNs?
    package let fcm_message: AnyJSON?
}

/// The `gorush` part of `seed-systems-vectors.json`.
package struct GorushVectors: Decodable, Sendable {
    package struct Response: Decodable, Sendable {
        package let status: Int
        package let body: AnyJSON
    }

    package struct Case: Decodable, Sendable {
        package struct Expect: Decodable, Sendable {
            package let pushes: [PushVector]
            package let response: Response
        }

        package let name: String
        package let config: [String: AnyJSON]
        package let request_body: AnyJSON
        package let expect: Expect
    }

    package struct Fault: Decodable, Sendable {
        package let name: String
        package let config: [String: AnyJSON]?
        package let body_text: String
        package let status: Int
        package let body: AnyJSON
    }

    package struct Sync: Decodable, Sendable {
        package let request_body: AnyJSON
        package let expect_response: Response
    }

    package struct Masked: Decodable, Sendable {
        package let token: String
        package let shown: String
    }

    package let cases: [Case]
    package let errors: [Fault]
    package let sync: Sync
    package let token_masking: [Masked]

    package static func read() throws -> GorushVectors { try Vectors.seed("gorush") }
}

/// Any JSON in the vectors.
package enum AnyJSON: Codable, Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([AnyJSON])
    case object([String: AnyJSON])

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([AnyJSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: AnyJSON].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
