import JSONCoding

/// `/healthz` and `/readyz`: checks as JSON, for probes and scripts.
package enum HealthReport {
    /// Returns `{"status":"ok|warning|failing","checks":{"outbox":{"ok":true,"level":"ok","state":"…"},…}}`,
    /// with an `advice` where there is something to do.
    package static func json(of checks: [Check]) -> [UInt8] {
        var body = Array("{\"status\":\"\(checks.level.rawValue)\",\"checks\":{".utf8)
        for (index, check) in checks.enumerated() {
            if index > 0 { body.append(UInt8(ascii: ",")) }
            body.append(jsonString: check.name)
            body.append(
                contentsOf: ":{\"ok\":\(check.isWell),\"level\":\"\(check.level.rawValue)\",\"state\":".utf8)
            body.append(jsonString: check.state)
            if let advice = check.advice {
                body.append(contentsOf: ",\"advice\":".utf8)
                body.append(jsonString: advice)
            }
            body.append(UInt8(ascii: "}"))
        }
        body.append(contentsOf: "}}\n".utf8)
        return body
    }
}

extension Report {
    /// The checks of `/readyz`: senders reach the node, and it can store what they bring. The delivery is
    /// judged by `/healthz` alone.
    package var readinessChecks: [Check] { checks.filter { [.onion, .outbox].contains($0.kind) } }
}
