import PushEndpoints

/// The limits and times of Status' push notification server.
package struct StatusIMServerSettings: Sendable {
    package var apps = PushApps()
    package var keysPerQuery = 100
    package var entriesPerRequest = 100
    /// The time for which a repeated message gets the answer of the first.
    package var messageMemory: Duration = .seconds(7 * 86400)
    /// The number of installations for which there is room: when many come within half a day, a circuit
    /// gets a share.
    package var installations = 100_000

    package init() {}
}
