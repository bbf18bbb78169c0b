/// The configured apps of one generation of phones, by name; empty: the default for the platform.
package struct PhoneApps: Equatable, Sendable {
    package var ios = ""
    package var android = ""

    package init() {}
}
