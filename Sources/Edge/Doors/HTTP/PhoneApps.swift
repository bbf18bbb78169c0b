import Encodings

/// The configured apps of one generation of phones, by name; empty: the default for the platform.
package struct PhoneApps: Equatable, Sendable {
    package var ios = ""
    package var android = ""
    /// The app that hands on to another relay, for both platforms: it serves while the app of a platform is
    /// blocked.
    package var standIn = ""

    package init() {}
}
