import Encodings
import EndpointWorlds
import Foundation
import HTTP1
import JSONCoding
import Lab
import Reactor
import Relay
import Testing
import Vectors
import Wire

@testable import WebPushIn

@Suite struct Z85Tests {
    @Test func everyVectorIsEncodedAsTheAppsReadIt() throws {
        let vectors = try Vectors.seed("z85", as: Z85Vectors.self)
        #expect(vectors.cases.count > 30)
        for vector in vectors.cases {
            var text = Array("x".utf8)
            Z85.append(bytes(hex: vector.hex), to: &text)
            #expect(String(decoding: text.dropFirst(), as: UTF8.self) == vector.z85, "\(vector.name)")
            #expect(Z85.length(of: vector.hex.utf8.count / 2) == vector.z85.utf8.count)
        }
    }
}

/// What Mastodon and its relatives send, through the real door and over TLS to Apple and Google: the answers they need,
/// and the pushes that the apps read.
@EventLoop
@Suite(.serialized) struct WebPushVectorTests {
    private func header(_ name: String, of push: AcceptedPush) -> String? {
        push.headers.all.first { $0.name == name }?.value
    }

    private func time() -> Int64 { EventLoop.unixMilliseconds / 1000 }

    private func check(
        _ vector: WebPushVectors.Case, replacing headers: [String: String] = [:], givesIDs: Bool = true
    ) async throws {
        let world = try await RelayWorld {
            $0.webPush.outcomeDeadline = .seconds(30)
            $0.webPush.givesIDs = givesIDs
        }
        let client = try await world.client()
        let earliest = time()
        let answer = try #require(await client.ask(vector.request.encoded(replacing: headers)))
        let latest = time()
        #expect(answer.status == vector.expect.response_status)
        #expect(answer.body.isEmpty)
        let push = await world.pushes(1)[0]
        let expected = vector.expect.apns
        let host = expected.environment == "production" ? world.apple : world.sandbox
        #expect(host.book.count == 1)
        #expect(push.headers[":path"] == expected.path)
        #expect(try JSON(push.body) == expected.payload)
        for (name, value) in expected.headers where name != "apns-expiration" {
            #expect(header(name, of: push) == value, "\(name)")
        }
        for (name, value) in expected.headers_optional { #expect(header(name, of: push) == value, "\(name)") }
        if let expiration = expected.headers["apns-expiration"].flatMap({ Int64($0) }) {
            let sent = try #require(push.headers["apns-expiration"].flatMap { Int64($0) })
            #expect((earliest...latest).contains(sent - (expiration - vector.now)))
        } else {
            #expect(expected.headers_absent.contains("apns-expiration"))
            #expect(push.headers["apns-expiration"] == nil)
        }
        if let size = vector.payload_bytes { #expect(push.body.count == size.compact_json) }
        let location = try #require(answer.fields["location"])
        if givesIDs {
            // What the original leaves out is the notification's own id: a repetition replaces itself.
            let id = try #require(push.headers["apns-id"])
            if expected.headers["apns-collapse-id"] == nil { #expect(push.headers["apns-collapse-id"] == id) }
            #expect(location == "/relay-to/_state/\(id)")
        } else {
            for name in expected.headers_absent { #expect(header(name, of: push) == nil, "\(name)") }
        }
        #expect(await client.get(location)?.text == "delivered")
        await world.end()
    }

    @Test(arguments: WebPushVectors.all.cases, [true, false])
    func aMessageArrivesAsItsAppReadsIt(vector: WebPushVectors.Case, givesIDs: Bool) async throws {
        try await check(vector, givesIDs: givesIDs)
    }

    @Test(arguments: WebPushVectors.all.lenient)
    func whatTheOriginalRefusesThoughItIsLegalArrives(vector: WebPushVectors.Leniency) async throws {
        try await check(WebPushVectors.all.cases[0], replacing: vector.headers)
    }

    @Test(arguments: WebPushVectors.all.errors)
    func whatNoAppCanReadIsRefused(vector: WebPushVectors.Refusal) async throws {
        let world = try await RelayWorld { $0.webPush.outcomeDeadline = .seconds(30) }
        let client = try await world.client()
        let answer = await client.ask(vector.request.encoded())
        #expect(answer?.status == vector.status)
        #expect(world.apple.book.count == (vector.status == 201 ? 1 : 0))
        #expect(world.dispatcher.waiting == 0)
        await world.end()
    }

    /// Mastodon deletes a subscription at any 4xx but 408 and 429: only a dead device is worth that. All else is the
    /// node's to deliver when the fault is over.
    @Test(arguments: WebPushVectors.all.apns_errors)
    func nobodysFaultButTheDevicesCostsASubscription(vector: WebPushVectors.GatewayFault) async throws {
        let isEnd = ["Unregistered", "BadDeviceToken", "PayloadTooLarge"].contains(vector.apns_reason)
        let world = try await RelayWorld {
            $0.webPush.outcomeDeadline = isEnd ? .seconds(30) : .milliseconds(300)
        }
        world.apple.faults = FaultScript([
            FaultRule(.answer(status: vector.apns_status, reason: vector.apns_reason), times: 1)
        ])
        let client = try await world.client()
        let answer = try #require(await client.ask(WebPushVectors.all.cases[0].request.encoded()))
        switch vector.apns_reason {
        case "Unregistered":
            #expect(answer.status == 410)
        case "BadDeviceToken":
            // Apple has taken nothing since the start: it may be the settings' fault.
            #expect(answer.status == 502)
        case "PayloadTooLarge":
            #expect(answer.status == 502)
            #expect(answer.fields["retry-after"] == "300")
        case _:
            #expect(answer.status == 201)
            // It waits, or Apple has it; for a moment both, when Apple's answer is on its way.
            #expect((1...2).contains(world.dispatcher.waiting + world.apple.book.count))
            #expect(world.apple.book.count <= 1)
        }
        await world.end()
    }

    @Test(arguments: ["aes128gcm", "aesgcm"])
    func theLargestBodyThatFitsIsTakenAndOneByteMoreIsNot(encoding: String) async throws {
        let largest = WebPushVectors.all.largest_body_that_fits_4096_without_extra
        let count = encoding == "aesgcm" ? largest.aesgcm : largest.aes128gcm
        let world = try await RelayWorld { $0.webPush.outcomeDeadline = .seconds(30) }
        let client = try await world.client()
        // Without extra.
        var request = WebPushVectors.all.cases[2].request
        request.headers["Content-Encoding"] = encoding
        request.body_hex = String(repeating: "ff", count: count)
        #expect(await client.ask(request.encoded())?.status == 201)
        #expect(await world.pushes(1)[0].body.count <= 4096)
        request.body_hex += "ff"
        #expect(await client.ask(request.encoded())?.status == 413)
        request.body_hex = String(repeating: "ff", count: 4097)
        #expect(await client.ask(request.encoded())?.status == 413)
        #expect(world.dispatcher.stored == 1)
        await world.end()
    }

    @Test(arguments: WebPushVectors.all.fcm_relay)
    func aMessageForGoogleArrivesAsItsAppReadsIt(vector: WebPushVectors.ToGoogle) async throws {
        let world = try await RelayWorld { $0.webPush.outcomeDeadline = .seconds(30) }
        let client = try await world.client()
        #expect(await client.ask(vector.request.encoded())?.status == vector.expect.response_status)
        let push = await world.pushes(1)[0]
        #expect(try JSON(push.body)["message"] == vector.expect.fcm_message)
        await world.end()
    }

    @Test(arguments: WebPushVectors.all.metatext_apns)
    func aMessageOfMetatextsFormArrivesAsItsAppReadsIt(vector: WebPushVectors.Metatext) async throws {
        let world = try await RelayWorld { $0.webPush.outcomeDeadline = .seconds(30) }
        let client = try await world.client()
        #expect(await client.ask(vector.request.encoded())?.status == vector.expect.response_status)
        let push = await world.pushes(1)[0]
        let host = vector.expect.environment == "production" ? world.apple : world.sandbox
        #expect(host.book.count == 1)
        let expected = vector.expect.payload.merging(vector.expect.feditext_adds) { $1 }
        #expect(try JSON(push.body) == .object(JSON.Object(expected.map { ($0, $1) })))
        await world.end()
    }
}
