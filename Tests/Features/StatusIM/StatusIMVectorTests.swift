import Crypto
import StatusIM
import Testing
import Vectors

/// What independent code made and read. The whole exchange is in the door's tests.
@Suite struct StatusIMVectorTests {
    private let vectors: StatusIMVectors

    init() throws { vectors = try StatusIMVectors.read() }

    @Test func messagesNameTheirSenderAndThemselves() throws {
        let encoded = bytes(hex: vectors.message.example_message_hex)
        let message = try SignedMessage(encoded)
        #expect(message.payload == bytes(hex: vectors.message.example_payload_hex))
        #expect(message.encoded == encoded)
        let signer = try #require(
            Secp256k1.PublicKey(
                recoveredFrom: SignedMessage.digest(of: message.payload), signature: message.signature))
        #expect(
            SignedMessage.id(signer: signer.uncompressed, encoded: encoded)
                == bytes(hex: vectors.message.example_message_id_hex))
    }

    @Test func registrationsAreReadWhole() throws {
        let all = vectors.registrations_in_order + vectors.then_unregister_in_order
        var read = 0
        for vector in all {
            guard let hex = vector.registration_hex, let registration = try? Registration(bytes(hex: hex))
            else {
                continue
            }
            read += 1
            // `enabled`, which nobody looks at, is let go.
            #expect(try Registration(registration.encoded) == registration, "\(vector.name)")
        }
        #expect(read >= 14)
    }

    @Test func grantsAreForOneClientServerAndToken() throws {
        var registration = Registration()
        registration.accessToken = vectors.grant.access_token
        let client = bytes(hex: try #require(vectors.keys["client"]).public_compressed_hex)
        let server = bytes(hex: try #require(vectors.keys["server"]).public_compressed_hex)
        let digest = registration.grantDigest(client: client, server: server)
        #expect(digest == bytes(hex: vectors.grant.digest_hex))
        for vector in vectors.grant.cases {
            let signer = Secp256k1.PublicKey(recoveredFrom: digest, signature: bytes(hex: vector.grant_hex))
            #expect((signer?.compressed == client) == vector.valid, "\(vector.name)")
        }
    }

    @Test func answersAreSignedAsIndependentCodeSignsThem() throws {
        let server = try Secp256k1.PrivateKey(
            Secret(bytes(hex: try #require(vectors.keys["server"]).private_hex)))
        for vector in vectors.registrations_in_order {
            let payload = bytes(hex: vector.expect.response_payload_hex)
            let message = SignedMessage(
                signature: server.sign(SignedMessage.digest(of: payload)), payload: payload,
                kind: .registrationResponse)
            #expect(
                message.encoded == bytes(hex: vector.expect.response_message_example_hex), "\(vector.name)")
            let answer = RegistrationResponse(
                fault: vector.expect.success ? nil : RegistrationFault(rawValue: vector.expect.error),
                requestID: Keccak.shake256(bytes(hex: vector.encrypted_hex)))
            #expect(answer.encoded == payload, "\(vector.name)")
        }
    }
}
