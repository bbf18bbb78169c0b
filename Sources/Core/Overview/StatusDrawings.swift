/// The drawings of the status page, as SVG within the page. Where a browser shows no SVG (Tor Browser at its safest
/// level) they are just not there: no text is in them, and what they show stands beside them in figures.
package enum StatusDrawings {
    /// Draws the bell that the browser shows beside the title, with a spot where an operator has to look.
    package static func icon(_ level: Check.Level) -> String {
        let colour: String? =
            switch level {
            case .ok: nil
            case .warning: "#e0a100"
            case .failing: "#e02b20"
            }
        let spot = colour.map {
            "<circle cx=\"24\" cy=\"8\" r=\"7\" fill=\"\($0)\" stroke=\"#fff\" stroke-width=\"2\"/>"
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="16" fill="#6d3fb0"/>\
            <path fill="#fff" d="M16 6a6 6 0 0 0-6 6v5l-2.5 4h17L22 17v-5a6 6 0 0 0-6-6zm-3 16a3 3 0 0 0 6 0z"/>\
            \(spot ?? "")</svg>
            """
    }

    /// Returns the path of the icon for a level. Each level has an icon of its own, which a browser may keep.
    package static func iconPath(_ level: Check.Level) -> String { "/favicon-\(level.rawValue).svg" }

    // MARK: QR code

    /// The number of light modules around the code, as the standard demands (ISO/IEC 18004, section 6.3.8).
    private static let quietZone = 4

    static func code(_ modules: Modules, label: String) -> Markup {
        var path = ""
        for row in 0..<modules.width {
            var column = 0
            while column < modules.width {
                let start = column
                while modules[row, column] { column += 1 }
                if column > start { path += "M\(start) \(row)h\(column - start)v1h\(start - column)z" }
                column += 1
            }
        }
        let side = modules.width + 2 * quietZone
        return """
            <svg class="qr" viewBox="\(-quietZone) \(-quietZone) \(side) \(side)" shape-rendering="crispEdges" \
            role="img" aria-label="\(label)"><path d="\(path)"/></svg>
            """
    }

    /// Draws a code with block characters, two rows of modules in each line, dark on light.
    static func codeAsText(_ modules: Modules) -> String {
        let range = -quietZone..<modules.width + quietZone
        return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
            range.map { column in
                switch (modules[row, column], modules[row + 1, column]) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }.joined()
        }.joined(separator: "\n")
    }
}
