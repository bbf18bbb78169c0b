import Encodings

/// The configured apps that a door for other senders may push to.
package struct PushApps: Equatable, Sendable {
    /// An app of Apple's.
    package struct Apple: Equatable, Sendable {
        package let name: String
        /// The app's bundle id.
        package let topic: String

        package init(name: String, topic: String) {
            self.name = name
            self.topic = topic
        }
    }

    /// The apps at Apple. The first one serves those who name none.
    package var ios: [Apple] = []
    /// Google's app; `nil`: none.
    package var android: String?
    /// Whether Apple's sandbox host is used, for apps that their developers built.
    package var isSandbox = false

    package init() {}

    /// Returns the app that a topic means: its bundle id, or that with one of Apple's endings.
    ///
    /// - Parameter topic: The bundle id, perhaps with an ending; empty: the first app.
    package func app(topic: String) -> String? {
        guard !topic.isEmpty else { return ios.first?.name }
        guard let topic = topic.name(limit: 256) else { return nil }
        return ios.first { topic == $0.topic }?.name
            ?? ios.first { app in PushApps.endings.contains { topic == app.topic + $0 } }?.name
    }

    /// The endings that some of Apple's push types have behind the bundle id (Apple, "Sending notification requests to
    /// APNs").
    private static let endings = [
        ".complication", ".location-query", ".push-type.controls", ".push-type.liveactivity",
        ".push-type.widgets", ".pushkit.fileprovider", ".voip", ".voip-ptt",
    ]
}
