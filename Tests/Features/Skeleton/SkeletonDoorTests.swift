import Doors
import EndpointWorlds
import HTTP1
import Lab
import Node
import Reactor
import Relay
import Testing

/// The skeleton of a door, run as each real one is: its values, then the door with everything behind it.
@EventLoop
@Suite(.serialized) struct SkeletonDoorTests {
    private let token = String(repeating: "a", count: 40)

    /// The message has the form of Bisq 2's.
    private func body(_ device: String, _ character: String = "A")
        -> String
    {
        #"{"device":"\#(device)","message":"\#(String(repeating: character, count: 40))"}"#
    }

    @Test func everyWrongFormIsRefused() {
        func fault(_ body: String) -> SkeletonMessage.Fault? {
            do throws(SkeletonMessage.Fault) {
                _ = try SkeletonMessage(HTTPRequest(method: "POST", path: "/", body: Array(body.utf8)))
                return nil
            } catch {
                return error
            }
        }
        #expect(fault(body("a")) == nil)
        for text in ["", "[]", "{", String(repeating: "[", count: 10_000)] {
            #expect(fault(text) == .notJSON)
        }
        #expect(fault(#"{"device":1,"message":"a"}"#) == .withoutDevice)
        #expect(fault(#"{"device":"a"}"#) == .withoutMessage)
    }

    /// A program that was built with it reads its settings; one without refuses them by the name.
    @Test func itsSettingsAreReadByAProgramThatHasIt() throws {
        let text =
            "apps: [{name: one, gateway: ntfy, url: \"https://ntfy.sh\"}]\ndoors: {skeleton: {listen: [\"unix:/a\"], requests: 7}}"
        let with = Features([SkeletonFeature.self], leftOut: [])
        let read = try Settings(yaml: text, file: "x", features: with).feature(SkeletonFeature.self)
        #expect(read?.listen.map(\.description) == ["unix:/a"] && read?.place.limits.requests == 7)
        do throws(SettingsError) {
            _ = try Settings(yaml: text, file: "x", features: Features([], leftOut: ["skeleton"]))
            Issue.record("it was read")
        } catch {
            let words = error.faults.map(\.problem)
            #expect(words == ["this onionbelld was built without skeleton"])
        }
    }

    @Test func whatIsAcceptedGoesAllTheWayAndWhatIsNotIsAnswered() async throws {
        let world = try await RelayWorld()
        // So long that the end comes before it, on whatever machine.
        let settings = SkeletonDoorSettings(app: "android", outcomeDeadline: .seconds(3600))
        let door = SkeletonDoor(settings: settings, dispatcher: world.dispatcher)
        let server = HTTPServer(
            settings: HTTPServerSettings(), doors: [LimitedDoor(door, limits: LimitedDoor.Limits())])
        let client = try await HTTPClient(server.open(on: .host("127.0.0.1", port: 0)))
        #expect(await client.post("/skeleton/push", body(token))?.status == 202)
        #expect(await world.pushes(1).map(\.deviceToken) == [token])

        #expect(await client.post("/skeleton/push", "{}")?.text == "device must be a text")
        #expect(await client.post("/skeleton/push", body("no token"))?.text == "BadDeviceToken")
        #expect(await client.get("/skeleton/push")?.status == 405)
        #expect(await client.get("/skeleton/pushed")?.status == 404)

        world.google.faults = FaultScript([FaultRule(.answer(status: 404, reason: "UNREGISTERED"), times: 1)])
        #expect(
            await client.post("/skeleton/push", body(token, "B"))?.status == 410)
        await server.close()
        await world.end()
    }

    /// A sender hears that it shall come again, and not that its device is dead, when the fault is this node's.
    @Test func whatLiesWithThisNodeIsNoVerdictOnADevice() {
        let answers: [(Receipt, Int)] = [
            (.stored, 202), (.kept, 202), (.ended(.delivered), 202),
            (.busy(.node(retryAfter: .seconds(5))), 503),
            (.refused(.gatewayDisabled), 503), (.refused(.messageTooLarge), 413), (.refused(.loop), 508),
            (.ended(.tokenDead(reason: .unregistered)), 410), (.ended(.expired), 400),
        ]
        for (receipt, status) in answers {
            #expect(SkeletonReceipt.response(to: receipt).status == status, "\(receipt)")
        }
    }
}
