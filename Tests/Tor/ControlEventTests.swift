import Testing

@testable import Tor

@Suite struct ControlEventTests {
    static let id = String(repeating: "a", count: 56)

    static let seen: [(String, ControlEvent)] = [
        (
            "STATUS_CLIENT NOTICE BOOTSTRAP PROGRESS=5 TAG=conn SUMMARY=\"Connecting to a relay\"",
            .bootstrap(.init(progress: 5, tag: "conn", summary: "Connecting to a relay"))
        ),
        (
            """
            STATUS_CLIENT WARN BOOTSTRAP PROGRESS=5 TAG=conn SUMMARY="Connecting to a relay" \
            WARNING="Connection refused" REASON=CONNECTREFUSED COUNT=3 RECOMMENDATION=ignore HOSTID="A" HOSTADDR="B"
            """,
            .bootstrap(
                .init(
                    progress: 5, tag: "conn", summary: "Connecting to a relay", warning: "Connection refused")
            )
        ),
        ("STATUS_CLIENT NOTICE CIRCUIT_ESTABLISHED", .circuitEstablished),
        ("STATUS_CLIENT NOTICE CIRCUIT_NOT_ESTABLISHED REASON=CLOCK_JUMPED", .circuitNotEstablished),
        ("STATUS_CLIENT NOTICE ENOUGH_DIR_INFO", .unused("STATUS_CLIENT")),
        ("STATUS_GENERAL WARN CLOCK_SKEW SKEW=-3600 SOURCE=CONSENSUS", .clockSkew(seconds: -3600)),
        ("STATUS_GENERAL WARN CLOCK_SKEW SKEW=+17 SOURCE=CONSENSUS", .clockSkew(seconds: 17)),
        ("STATUS_GENERAL WARN CLOCK_SKEW SKEW=-9223372036854775808", .clockSkew(seconds: -3_162_240_000)),
        ("STATUS_GENERAL WARN CLOCK_SKEW SKEW=9223372036854775807", .clockSkew(seconds: 3_162_240_000)),
        ("NETWORK_LIVENESS UP", .networkLiveness(isUp: true)),
        ("NETWORK_LIVENESS DOWN", .networkLiveness(isUp: false)),
        ("WARN No available nodes. Failing.", .log(severity: "WARN", words: "No available nodes. Failing.")),
        ("CONF_CHANGED", .unused("CONF_CHANGED")),
    ]

    @Test(arguments: seen)
    func eachEventIsAValue(text: String, expected: ControlEvent) throws {
        #expect(try ControlEvent(reply(650, text)) == expected)
    }

    @Test func aDescriptorsStepsAreToldApart() throws {
        let directory = "$00112233445566778899AABBCCDDEEFF00112233~relay"
        let steps: [(String, DescriptorEvent.Action, String)] = [
            ("CREATED \(Self.id) UNKNOWN UNKNOWN c29tZQ==", .created, "UNKNOWN"),
            ("UPLOAD \(Self.id) UNKNOWN \(directory) c29tZQ HSDIR_INDEX=00", .upload, directory),
            ("UPLOADED \(Self.id) UNKNOWN \(directory)", .uploaded, directory),
            (
                "FAILED \(Self.id) NO_AUTH \(directory) c29tZQ REASON=NOT_FOUND",
                .failed(reason: "NOT_FOUND"),
                directory
            ),
            ("IGNORE \(Self.id) NO_AUTH \(directory) c29tZQ", .unused("IGNORE"), directory),
        ]
        for (text, action, directory) in steps {
            guard case .descriptor(let event) = try ControlEvent(reply(650, "HS_DESC " + text)) else {
                Issue.record("no descriptor event: \(text)")
                continue
            }
            #expect(event.action == action)
            #expect(event.serviceID == Self.id)
            #expect(event.directory == directory)
        }
    }

    @Test(arguments: [
        "HS_DESC", "HS_DESC UPLOADED", "HS_DESC UPLOADED \(id)", "STATUS_CLIENT NOTICE BOOTSTRAP",
        "STATUS_CLIENT NOTICE BOOTSTRAP PROGRESS=101 TAG=x",
        "STATUS_CLIENT NOTICE BOOTSTRAP PROGRESS=99999999999999999999",
        "STATUS_GENERAL WARN CLOCK_SKEW SKEW=much", "STATUS_CLIENT \"",
    ])
    func anEventInAnotherFormIsRefused(text: String) {
        #expect(throws: ControlSyntaxError.self) { try ControlEvent(reply(650, text)) }
    }

    @Test func theBootstrapPhaseThatIsAskedForReadsLikeTheEvent() {
        #expect(
            Bootstrap(phase: "NOTICE BOOTSTRAP PROGRESS=100 TAG=done SUMMARY=\"Done\"")
                == Bootstrap(progress: 100, tag: "done", summary: "Done"))
        #expect(Bootstrap(phase: "") == nil)
    }
}
