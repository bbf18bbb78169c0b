import ArgumentParser

/// A length of time as an option gives it: `30s`, `5m`, `1h`; a number alone is seconds.
package struct TimeSpan: ExpressibleByArgument, CustomStringConvertible {
    package let duration: Duration

    package init(_ duration: Duration) { self.duration = duration }

    package init?(argument: String) {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600]
        let unit = argument.last.flatMap { units[$0] }
        guard let count = Int(unit == nil ? argument[...] : argument.dropLast()),
            (1...86_400).contains(count)
        else { return nil }
        duration = .seconds(count * (unit ?? 1))
    }

    package var description: String { "\(duration.components.seconds)s" }

    package var defaultValueDescription: String { description }
}
