/// The configured apps that a door for other senders may push to.
package struct PushApps: Equatable, Sendable {
    /// An app of Apple's.
    package struct Apple: Equatable, Sendable {
        package let name: String
        /// Its bundle id.
        package let topic: String

        package init(name: String, topic: String) {
            self.name = name
            self.topic = topic
        }
    }

    /// The first one serves those who name none.
    package var ios: [Apple] = []
    /// Google's app; `nil`: none.
    package var android: String?
    /// Apple's sandbox host, for apps that their developers built.
    package var isSandbox = false

    package init() {}

    /// The app that a topic means: its bundle id, or that with one of Apple's endings (`.push-type.liveactivity`).
    ///
    /// - Parameter topic: empty: the first app.
    func app(topic: String) -> String? {
        topic.isEmpty
            ? ios.first?.name
            : ios.first { topic == $0.topic || topic.hasPrefix($0.topic + ".") }?.name
    }
}
