extension Report {
    /// The time after a start for which an operator is told that the store of before was gone.
    package static let newsOfLoss: Duration = .seconds(86_400)

    /// Returns the check of an outbox that works, where the one of before this start was lost.
    func lossCheck(_ waits: String) -> Check? {
        guard outbox.wasMadeAnew, uptime < Report.newsOfLoss else { return nil }
        return Check(
            .outbox, level: .warning,
            state:
                "works; \(waits); at this start the store of before was gone or empty: what waited in it is lost",
            advice:
                "if somebody has moved the file, stop the node and put it back with its -wal, after what stands there now was copied into another folder; else nothing: this is said for a day"
        )
    }
}
