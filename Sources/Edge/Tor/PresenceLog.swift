import Logging

/// The events of the log about tor and the onion service.
struct PresenceLog {
    let log: Logger

    func write(_ state: OnionState) {
        switch state {
        case .connecting: break  // Only ever the first.
        case .bootstrapping(let progress, let summary):
            log.info("tor.bootstrapping", metadata: ["progress": "\(progress)", "summary": "\(summary)"])
        case .publishing: log.info("tor.bootstrapped")
        case .published(let uploads, _): log.notice("onion.published", metadata: ["uploads": "\(uploads)"])
        case .lost(let loss): log.warning("onion.lost", metadata: ["reason": "\(loss)"])
        case .stopped: log.info("onion.withdrawn")
        }
    }

    func write(_ event: ControlEvent, isOurs: Bool) {
        switch event {
        case .clockSkew(let seconds):
            log.warning(
                "tor.clock_wrong",
                metadata: [
                    "seconds": "\(seconds.magnitude)", "this_machine": seconds > 0 ? "ahead" : "behind",
                ])
        case .networkLiveness(let isUp):
            log.info("tor.network_changed", metadata: ["state": isUp ? "alive" : "dead"])
        case .log(_, let words):
            // A tor of our own writes the same lines to its own log.
            if !isOurs { log.debug("tor.log", metadata: ["line": "\(TorLogLine.withoutAddresses(words))"]) }
        case .reloaded: log.notice("tor.reloaded")
        case .bootstrap, .circuitEstablished, .circuitNotEstablished, .descriptor, .unused:
            break
        }
    }

    func shutsOut(circuits: Int) {
        log.notice("onion.rotated", metadata: ["circuits_closed": "\(circuits)"])
    }

    func callFailed(_ reason: String) {
        log.warning("onion.self_dial_failed", metadata: ["reason": "\(reason)"])
    }

    func answersAgain(after failures: Int) {
        log.notice("onion.self_dial_recovered", metadata: ["failures_before": "\(failures)"])
    }

    func keyIsInUseElsewhere() {
        log.error(
            "onion.key_in_use_elsewhere",
            metadata: ["advice": "another node answers under this address: stop one, or change its key"])
    }

    func frontFails(_ reason: String) {
        log.warning("onion.front_unreached", metadata: ["reason": "\(reason)"])
    }

    func frontAnswersAgain(after failures: Int) {
        log.notice("onion.front_recovered", metadata: ["failures_before": "\(failures)"])
    }

    func foundNoSocks() {
        log.notice("onion.self_dial_disabled", metadata: ["reason": "tor has no SOCKS port; see tor.socks"])
    }
}
