/// Lengths of time for a reader.
package enum Age {
    /// Returns a length of time as `45 s`, `12 min`, `7 h` or `3 d`.
    package static func text(_ milliseconds: Int64) -> String {
        let seconds = max(0, milliseconds) / 1000
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        case _: "\(seconds / 86_400) d"
        }
    }
}
