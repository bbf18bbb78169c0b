import Doors

/// The operator's settings of the Web Push door.
package struct WebPushSettings: Sendable {
    /// The apps of `/relay-to/…`: at Apple, and at Google (environment `fcm`).
    package var relay = PhoneApps()
    /// The app of `/push/…`, at Apple.
    package var pushApp = ""
    /// The time for which a POST waits for the gateway's verdict.
    package var outcomeDeadline: Duration = .seconds(2)
    /// Whether Apple's pushes bear the notification's id, so that a repetition takes the first one's place on the phone.
    /// Otherwise they have the header fields of the original relays and no other.
    package var givesIDs = true

    package init() {}
}
