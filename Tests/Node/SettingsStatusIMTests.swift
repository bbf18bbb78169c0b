import Doors
import Gorush
import StatusIMEndpoint
import Testing

@testable import Node

@Suite struct SettingsStatusIMTests {
    private static let apps = """
        apps:
          - {name: one, gateway: apns, topic: im.one}
          - {name: two, gateway: apns, topic: im.two}
          - {name: three, gateway: fcm}
          - {name: four, gateway: fcm}

        """

    private func doors(_ lines: String) -> String {
        Self.apps + "doors:\n" + lines.split(separator: "\n").map { "  \($0)\n" }.joined()
    }

    @Test func bothAreOffUntilAPlaceIsNamed() throws {
        let read = try settings(Self.apps)
        #expect(
            !read.feature(GorushFeature.self)!.place.isOn && !read.feature(StatusIMFeature.self)!.isServer)
        #expect(
            try settings(doors("status: {stream: [onion:9998], apps: [one]}")).feature(StatusIMFeature.self)!
                .isServer)
        #expect(
            try settings(doors("status: {listen: [onion:80], apps: [one]}")).feature(StatusIMFeature.self)!
                .isServer)
    }

    @Test func whatIsOpenIsSaidAndOnThisMachineIsForPrograms() throws {
        func read(_ gorush: String) throws -> Settings {
            try settings(doors("gorush: {apps: [one], \(gorush)}"))
        }
        let local = try read("listen: [\"127.0.0.1:1\"]")
        #expect(local.feature(GorushFeature.self)!.door.isLocal)
        #expect(
            local.features.flatMap(\.openPlaces).map(\.sentence) == [
                "doors.gorush at 127.0.0.1:1 has no secret: every program on this machine can push through it"
            ])
        #expect(try !read("listen: [\"unix:/a\"]").feature(GorushFeature.self)!.door.isLocal)
        let open = try read("listen: [onion:8088], open: true")
        #expect(!open.feature(GorushFeature.self)!.door.isLocal)
        #expect(
            open.features.flatMap(\.openPlaces).map(\.sentence) == [
                "doors.gorush at onion:8088 has no secret: everybody can push through it"
            ])
        let secret = try read("listen: [onion:8088, \"127.0.0.1:1\"], secret_file: secret")
        #expect(
            !secret.feature(GorushFeature.self)!.door.isLocal
                && secret.features.flatMap(\.openPlaces).map(\.sentence).isEmpty)
        // A secret that others can read is a fault of `doctor`'s.
        #expect(secret.credentialFiles.contains { $0.hasSuffix("/secret") })
    }

    @Test func valuesReachTheirPlaces() throws {
        let read = try settings(
            doors(
                """
                gorush:
                  listen: [onion:8088, "127.0.0.1:8088"]
                  apps: [two, one, three]
                  sandbox: true
                  secret_file: secret
                  notifications: 3
                  wait: true
                  outcome_deadline: 4
                  broadcasts: true
                  hide_tokens: false
                  requests: 5
                  rate: 6
                  body_bytes: 2048
                status:
                  stream: [onion:9998]
                  listen: [onion:80]
                  apps: [three]
                  keys_per_query: 7
                  entries_per_request: 8
                  installations_per_key: 9
                  installations: 10
                  registration_bytes: 65537
                  message_memory: 3601
                  stream_connections: 11
                  stream_rate: 12
                  stream_idle_timeout: 13
                  rate: 14
                  body_bytes: 4096
                """)
        )
        let (gorush, statusIM) = (
            read.feature(GorushFeature.self)!, read.feature(StatusIMFeature.self)!
        )
        #expect(gorush.place.listen == [.onion(port: 8088), .plain(.host("127.0.0.1", port: 8088))])
        #expect(gorush.door.apps.ios.map(\.topic) == ["im.two", "im.one"])
        #expect(gorush.door.apps.android == "three")
        #expect(gorush.door.apps.isSandbox)
        #expect(gorush.secretFile.hasSuffix("/secret"))
        #expect(gorush.door.notifications == 3)
        #expect(gorush.door.waits && gorush.door.broadcasts && !gorush.door.hidesTokens)
        #expect(gorush.door.outcomeDeadline == .seconds(4))
        #expect(gorush.place.limits.requests == 5)
        #expect(gorush.place.limits.rate == 6)
        #expect(gorush.place.limits.body == 2048)
        #expect(statusIM.streamPlaces == [.onion(port: 9998)])
        #expect(statusIM.server.listen == [.onion(port: 80)])
        #expect(statusIM.serverDoor.apps.ios.isEmpty)
        #expect(statusIM.serverDoor.apps.android == "three")
        #expect(statusIM.serverDoor.keysPerQuery == 7)
        #expect(statusIM.serverDoor.entriesPerRequest == 8)
        #expect(statusIM.registrations.perOwner == 9)
        #expect(statusIM.registrations.installations == 10)
        #expect(statusIM.registrations.bytes == 65537)
        #expect(statusIM.serverDoor.messageMemory == .seconds(3601))
        #expect(statusIM.stream.connections == 11)
        #expect(statusIM.stream.rate == 12)
        #expect(statusIM.stream.idleTimeout == .seconds(13))
        #expect(statusIM.stream.messageBytes == 4096)
        #expect(statusIM.stream.totalRate == 14)
    }

    @Test(arguments: [
        ("gorush: {open: true, listen: [onion:8088]}", "doors.gorush.apps"),
        ("gorush: {open: true, listen: [onion:8088], apps: [five]}", "doors.gorush.apps"),
        ("gorush: {open: true, listen: [onion:8088], apps: one}", "doors.gorush.apps"),
        ("gorush: {open: true, listen: [onion:8088], apps: [one, three, four]}", "doors.gorush.apps"),
        ("gorush: {listen: [onion:8088], apps: [one]}", "doors.gorush.secret_file"),
        ("gorush: {listen: [\"127.0.0.1:1\", onion:8088], apps: [one]}", "doors.gorush.secret_file"),
        ("gorush: {notifications: 0}", "doors.gorush.notifications"),
        ("status: {stream: [onion:9999], apps: [one]}", "doors.status.stream"),
        ("status: {stream: [onion:80], apps: [one]}", "doors.status.stream"),
        ("status: {stream: [onion:1], listen: [onion:1], apps: [one]}", "doors.status.stream"),
        ("status: {stream: [\"https://0.0.0.0:1\"], apps: [one]}", "doors.status.stream"),
        ("status: {message_memory: 60}", "doors.status.message_memory"),
        ("status: {somethnig: 1}", "doors.status.somethnig"),
    ])
    func whatCannotBeIsAFaultOfItsKey(lines: String, key: String) {
        let found = faults(doors(lines))
        #expect(found.count == 1 && found[0].contains(key), "\(found)")
    }
}
