import Client
import Crypto
import Doors
import EndpointWorlds
import Foundation
import HTTP1
import Lab
import Persistence
import PushEndpoints
import Reactor
import Relay
import Testing
import Vectors

@testable import Bitwarden

/// What the vectors don't say of the door for Bitwarden servers.
@EventLoop
@Suite(.serialized) struct BitwardenDoorTests {
    private static let user = "075c56fa-b994-4e01-af0c-917dc0bf216b"

    /// Vaultwarden's own order and spelling reach the phone, byte for byte.
    @Test func aPayloadComesAsItWasWritten() async throws {
        let world = try await BitwardenWorld()
        try await world.register("official, Android")
        let payload = #"{"Zeta":[1,{"b":2,"a":null}],"alpha":"Ünï \"q\" \u00e9\n<&>/", "n":1.50}"#
        let body = #"{"USERID":"\#(Self.user.uppercased())","Type":5,"payload":\#(payload),"more":1}"#
        let answer = try await world.ask(
            "POST", "/push/send", token: try await world.token("a"), Array(body.utf8))
        #expect(answer.status == 200)
        _ = await world.relay.pushes(1)
        let sent = try JSONSerialization.jsonObject(with: Data(world.relay.google.book[0].body))
        let message = (sent as? [String: Any])?["message"] as? [String: Any]
        let data = try #require(message?["data"] as? [String: String])
        #expect(data["payload"] == payload)
        #expect(data["type"] == "5")
        await world.end()
    }

    /// A log-out has neither id nor date: two that say the same are two.
    @Test func theSameSendTwiceIsTwoPushes() async throws {
        let world = try await BitwardenWorld()
        try await world.register("official, Android")
        for _ in 0..<2 { #expect(try await logOut(world) == 200) }
        _ = await world.relay.pushes(2)
        await world.end()
    }

    private func logOut(_ world: BitwardenWorld, as name: String = "a") async throws -> Int {
        let body = #"{"userId":"\#(Self.user)","type":11,"payload":{"userId":"\#(Self.user)","reason":null}}"#
        return try await world.ask(
            "POST", "/push/send", token: try await world.token(name), Array(body.utf8)
        ).status
    }

    /// Vaultwarden sends it with neither body nor length, and doesn't look at the answer.
    @Test func aPhoneThatIsDeletedAsVaultwardenDoesItHearsNoMore() async throws {
        let world = try await BitwardenWorld()
        try await world.register("official, Android")
        let device = "d19def1c-0545-486a-9600-e31893bda07c"
        let token = try await world.token("a")
        #expect(try await world.ask("POST", "/push/delete/\(device)", token: token).status == 200)
        #expect(try await logOut(world) == 200)
        #expect(world.relay.dispatcher.waiting == 0)
        await world.end()
        #expect(world.relay.google.book.isEmpty)
    }

    @Test func anInstallationReachesNoDeviceOfAnother() async throws {
        let world = try await BitwardenWorld()
        try await world.register("official, Android")
        #expect(try await logOut(world, as: "b") == 200)
        let device = "d19def1c-0545-486a-9600-e31893bda07c"
        let token = try await world.token("b")
        #expect(try await world.ask("POST", "/push/delete/\(device)", token: token).status == 200)
        #expect(try await world.ask("DELETE", "/push/\(device)", token: token).status == 200)
        #expect(world.relay.dispatcher.waiting == 0)
        #expect(try await logOut(world) == 200)
        #expect(await world.relay.pushes(1).count == 1)
        await world.end()
    }

    @Test func aTokenIsOfNoUseOnceTheInstallationIsDisabledOrGone() async throws {
        let world = try await BitwardenWorld()
        let installation = try #require(BitwardenWorld.vectors.config.installations["a"])
        _ = try await world.token("a")
        try await world.add(installation.id, key: installation.key, isEnabled: false)
        #expect(try await logOut(world) == 401)
        #expect(try await world.askToken(BitwardenWorld.vectors.token.request.body).status == 400)
        await world.end()
    }

    /// Whoever had the key before has no day left in which its tokens are good.
    @Test func aTokenIsOfNoUseOnceTheKeyIsAnotherOne() async throws {
        let world = try await BitwardenWorld()
        let installation = try #require(BitwardenWorld.vectors.config.installations["a"])
        #expect(try await logOut(world) == 200)
        try await world.add(installation.id, key: "another")
        #expect(try await logOut(world) == 401)
        try await world.add(installation.id, key: installation.key)
        #expect(try await logOut(world) == 200)
        await world.end()
    }

    @Test(arguments: [
        "", "a.b.c", "eyJhbGciOiJub25lIn0.eyJleHAiOjk5OTk5OTk5OTksImNsaWVudF9zdWIiOiJhIn0.",
    ])
    func aTokenThatIsNoneOfOursIsRefused(token: String) async throws {
        let world = try await BitwardenWorld()
        let answer = try await world.ask("POST", "/push/register", token: token, Array("{}".utf8))
        #expect(answer.status == 401)
        await world.end()
    }

    @Test func aPhoneThatAppleCallsDeadIsForgotten() async throws {
        let world = try await BitwardenWorld()
        try await world.register("Vaultwarden, iOS")
        world.relay.apple.faults = FaultScript([
            FaultRule(
                .answer(status: 410, reason: "Unregistered", timestamp: EventLoop.unixMilliseconds),
                when: .always)
        ])
        #expect(try await logOut(world) == 200)
        let target = BitwardenDevice.Target.installation(
            try #require(BitwardenWorld.vectors.config.installations["a"]).id)
        while try await !world.devices.phones(of: target, except: nil).isEmpty {
            try Task.checkCancellation()
        }
        await world.end()
    }

    /// The same token, registered after it died: the app was installed again.
    @Test func aPhoneThatRegistersAgainWithTheSameTokenIsHeardAgain() async throws {
        let world = try await BitwardenWorld()
        try await world.register("Vaultwarden, iOS")
        world.relay.apple.faults = FaultScript([
            FaultRule(
                .answer(status: 410, reason: "Unregistered", timestamp: EventLoop.unixMilliseconds), times: 1)
        ])
        #expect(try await logOut(world) == 200)
        try await EventLoop.until { world.relay.dispatcher.deadTokens > 0 }
        try await world.register("Vaultwarden, iOS")
        #expect(try await logOut(world) == 200)
        #expect(await world.relay.pushes(1).count == 1)
        #expect(world.relay.dispatcher.deadTokens == 0)
        await world.end()
    }

    /// Several users of one phone share its token.
    @Test func aPhoneIsAsNewAsItsLastRegistration() async throws {
        let world = try await BitwardenWorld()
        let token = String(repeating: "ab", count: 32)
        for (user, time) in [(1, 5), (2, 9), (3, 7)] {
            let digest = Relay.Digest(high: UInt64(user), low: 0)
            let device = BitwardenDevice(
                id: digest, installation: "93b60203-2c75-4ec9-b575-6651c7dad956", user: digest,
                identifier: digest, type: 1, pushToken: token, organizations: [])
            #expect(try await world.devices.put(device, at: Int64(time), limit: 10))
        }
        let target = BitwardenDevice.Target.installation("93b60203-2c75-4ec9-b575-6651c7dad956")
        let phones = try await world.devices.phones(of: target, except: nil)
        #expect(phones == [BitwardenDevice.Phone(type: 1, pushToken: token, registeredAt: 9)])
        await world.end()
    }

    /// Servers send each only once: what is too much for a phone just now waits, and is refused when it waits too long.
    @Test func aSendWaitsForItsTurn() async throws {
        for (patience, statuses) in [(Duration.seconds(5), [200, 200, 200]), (.zero, [200, 200, 429])] {
            let world = try await BitwardenWorld(
                door: { $0.patience = patience },
                relay: {
                    $0.limits.tokenBurst = 1
                    $0.limits.tokenRate = 20
                })
            try await world.register("official, Android")
            _ = try await world.token("a")
            var answers: [Int] = []
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<3 { group.addTask { try await logOut(world) } }
                for try await status in group { answers.append(status) }
            }
            #expect(answers.sorted() == statuses)
            let taken = statuses.count { $0 == 200 }
            #expect(await world.relay.pushes(taken).count == taken)
            await world.end()
        }
    }

    /// What waits is bounded, and of the room one installation gets half.
    @Test func onlySoManyBytesWait() async throws {
        let world = try await BitwardenWorld(
            door: { $0.patientBytes = 4096 }, relay: { $0.limits.tokenBurst = 1 })
        try await world.register("official, Android")
        _ = try await world.token("a")
        var answers: [Int] = []
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<30 { group.addTask { try await logOut(world) } }
            for try await status in group { answers.append(status) }
        }
        let taken = answers.count { $0 == 200 }
        #expect((4...9).contains(taken), "\(taken)")
        #expect(answers.count { $0 == 429 } == 30 - taken)
        await world.end()
    }

    @Test func sendsThatWaitForTheirTurnKeepTheirPlaces() async throws {
        let world = try await BitwardenWorld(relay: {
            $0.limits.tokenBurst = 1
            $0.limits.tokenRate = 20
        })
        try await world.register("official, Android")
        let token = try await world.token("a")
        let count = 20
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                let body = #"{"userId":"\#(Self.user)","type":11,"payload":{"number":\#(number)}}"#
                group.addTask {
                    try await world.ask("POST", "/push/send", token: token, Array(body.utf8)).status
                }
                // Each comes when the one before has been taken, some of them while others are tried again.
                try await EventLoop.until { world.events("send") > number }
                await EventLoop.pass(.milliseconds(7))
            }
            for try await status in group { #expect(status == 200) }
        }
        let order = await world.relay.pushes(count).compactMap { push in
            String(decoding: push.body, as: UTF8.self).split(whereSeparator: { !$0.isNumber }).last
        }
        #expect(order == (0..<count).map { Substring("\($0)") })
        await world.end()
    }

    /// What can't be written down is not promised.
    @Test func aFailingStoreIsNoSuccessAndNoFaultOfTheSender() async throws {
        let world = try await BitwardenWorld()
        try await world.register("official, Android")
        await world.relay.outbox.setFault(.full)
        #expect(try await logOut(world) == 503)
        await world.relay.outbox.setFault(nil)
        await world.end()
    }

    @Test func thereIsRoomForSoManyDevices() async throws {
        let world = try await BitwardenWorld(door: { $0.devices = 1 })
        try await world.register("official, Android")
        // The same device again is no further one.
        try await world.register("official, Android")
        let further = try #require(
            BitwardenWorld.vectors.registers_in_order.first { $0.name.hasPrefix("Vaultwarden") })
        let answer = try await world.ask("POST", "/push/register", as: "a", further.body)
        #expect(answer.status == 400)
        try await world.register("another installation")
        await world.end()
    }

    @Test(arguments: [
        ("GET", "/push/register", "", 404), ("POST", "/push/", "{}", 404),
        ("POST", "/push/delete/a/b", "", 404),
        ("DELETE", "/push/%zz", "", 404), ("POST", "/push/send", "", 400), ("POST", "/push/send", "[]", 400),
        ("POST", "/push/send", #"{"type":"1","payload":{},"userId":"x"}"#, 400),
        ("POST", "/push/send", #"{"type":256,"payload":1,"installationId":null}"#, 400),
        ("POST", "/push/register", #"{"deviceId":1}"#, 400),
        (
            "POST", "/push/register", #"{"deviceId":"a","pushToken":"short","userId":"a","identifier":"a"}"#,
            400
        ),
        ("PUT", "/push/add-organization", #"{"organizationId":"a"}"#, 400),
        ("PUT", "/push/add-organization", #"{"organizationId":"a","devices":[{}]}"#, 400),
        ("GET", "/connect/token", "", 405),
    ])
    func badInputIsAnsweredInTheProtocolsWords(
        method: String, path: String, body: String, status: Int
    ) async throws {
        let world = try await BitwardenWorld()
        let answer = try await world.ask(
            method, path, token: try await world.token("a"), Array(body.utf8))
        #expect(answer.status == status)
        if status != 405 {
            #expect(String(decoding: answer.body, as: UTF8.self).contains(#""object":"error""#))
        }
        await world.end()
    }

    @Test func aPayloadThatIsTooLargeIsRefused() async throws {
        let world = try await BitwardenWorld()
        try await world.register("official, Android")
        let text = String(repeating: "x", count: 4096)
        let body = #"{"userId":"\#(Self.user)","type":20,"payload":"\#(text)"}"#
        let answer = try await world.ask(
            "POST", "/push/send", token: try await world.token("a"), Array(body.utf8))
        #expect(answer.status == 400)
        #expect(world.relay.dispatcher.waiting == 0)
        await world.end()
    }

    /// No phone needs to be asked for.
    @Test func aPayloadThatNoPhoneCanGetIsRefusedAtOnce() async throws {
        let world = try await BitwardenWorld()
        for (length, status) in [(4094, 200), (4095, 400)] {
            let text = String(repeating: "x", count: length)
            for (client, status) in [(4, status), (2, 200)] {
                let body =
                    #"{"userId":"\#(Self.user)","type":20,"payload":"\#(text)","clientType":\#(client)}"#
                let answer = try await world.ask(
                    "POST", "/push/send", token: try await world.token("a"), Array(body.utf8))
                #expect(answer.status == status)
            }
        }
        await world.end()
    }

    /// It is on the disk by then.
    @Test func nothingOfASendIsKeptOnceItIsStored() async throws {
        let world = try await BitwardenWorld()
        try await world.register("official, Android")
        world.relay.google.faults = FaultScript([FaultRule(.silence(isDelivered: false))])
        let text = String(repeating: "x", count: 4000)
        let body = Array(#"{"userId":"\#(Self.user)","type":20,"payload":"\#(text)"}"#.utf8)
        let token = try await world.token("a")
        // Four mebibytes of them stay in memory to be sent.
        for _ in 0..<1200 { _ = try await world.ask("POST", "/push/send", token: token, body) }
        let before = Heap.allocatedBytes
        for _ in 0..<500 { _ = try await world.ask("POST", "/push/send", token: token, body) }
        #expect(Heap.allocatedBytes - before < 1_000_000)
        #expect(world.relay.dispatcher.waiting == 1700)
        await world.end()
    }
}
