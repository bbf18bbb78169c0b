import Testing

@testable import Node

/// Bridges that need a program which is not there.
@Suite struct TransportProgramsTests {
    @Test(arguments: [
        (
            "UseBridges 1\nBridge obfs4 192.0.2.1:443 cert=x\nClientTransportPlugin obfs4 exec /no/obfs4proxy",
            "/no/obfs4proxy"
        ),
        (
            "ClientTransportPlugin meek_lite,obfs4 exec /no/lyrebird -x # comment\r\n  usebridges\t1\r\nbridge obfs4 1\r\n",
            "/no/lyrebird"
        ),
        ("UseBridges 1\nBridge snowflake 192.0.2.3:80", "no line ClientTransportPlugin"),
        // Nothing that needs a program, or one that is there.
        ("UseBridges 0\nBridge obfs4 x\nClientTransportPlugin obfs4 exec /no/obfs4proxy", nil),
        ("Bridge obfs4 x\nClientTransportPlugin obfs4 exec /no/obfs4proxy", nil),
        ("UseBridges 1\nBridge 192.0.2.1:443\nClientTransportPlugin obfs4 exec /no/obfs4proxy", nil),
        ("UseBridges 1\nBridge [2001:db8::1]:443", nil), ("#UseBridges 1\nBridge obfs4 x", nil), ("", nil),
        ("UseBridges 1\nBridge obfs4 x\nClientTransportPlugin obfs4 exec /bin/sh", nil),
        ("UseBridges 1\nBridge obfs4 x\nClientTransportPlugin obfs4 socks5 127.0.0.1:9", nil),
    ])
    func theProgramThatIsMissingIsNamed(torrc: String, words: String?) {
        let faults = TransportPrograms(torrc: torrc).faults
        if let words {
            #expect(faults.count == 1 && faults[0].contains(words), "\(faults)")
        } else {
            #expect(faults.isEmpty, "\(faults)")
        }
    }

    @Test func healthNamesItUntilTheAddressIsPublished() {
        var health = OnionHealth(
            state: .bootstrapping(progress: 5, summary: "conn"), figures: .init(), isCutOff: false,
            times: .init(
                interval: .seconds(300), call: .seconds(30), upload: .seconds(180), heartbeat: .seconds(20)),
            begun: 0, instant: 0, now: 0, clockOffset: 0,
            bridgeFault: "its program /no/obfs4proxy is not there")
        #expect(health.checks.first?.state.contains("/no/obfs4proxy") == true)
        #expect(health.checks.first?.advice?.contains("bridges") == true)
        health = OnionHealth(
            state: .published(uploads: 1, since: 0), figures: .init(), isCutOff: false,
            times: .init(
                interval: .seconds(300), call: .seconds(30), upload: .seconds(180), heartbeat: .seconds(20)),
            begun: 0, instant: 0, now: 0,
            clockOffset: 0, bridgeFault: "its program /no/obfs4proxy is not there")
        #expect(health.checks.first?.state.contains("obfs4proxy") == false)
    }
}
