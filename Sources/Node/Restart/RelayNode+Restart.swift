import Reactor

extension RelayNode {
    /// Restarts the node in place a moment later, if its successor says that it can start.
    ///
    /// - Returns: Why it goes on as it is; `nil`: it restarts.
    package func restartInPlace() async -> String? {
        // Two who ask at a time ask for the same.
        let check = startCheck ?? Task { [file = host.settingsFile] in await StartCheck.fault(of: file) }
        startCheck = check
        let fault = await check.value
        startCheck = nil
        if let fault { return "the node goes on, since it would not start again: \(fault)" }
        // Whoever asked has the answer first.
        Task { restart() }
        return nil
    }
}
