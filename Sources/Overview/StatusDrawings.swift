import Metrics

/// The drawings of the status page, as SVG within the page. Where a browser shows no SVG (Tor Browser at its safest
/// level) they are just not there: no text is in them, and what they show stands beside them in figures.
enum StatusDrawings {
    // MARK: Bars

    private static let (width, height) = (1200, 100)

    /// One bar for each span: delivered at the bottom, then what expired, then what was refused.
    static func bars(_ spans: [History.Totals], label: String) -> Markup {
        let highest = max(1, spans.map(total).max() ?? 1)
        let step = Double(width) / Double(max(1, spans.count))
        var rectangles: [Markup] = []
        for (index, span) in spans.enumerated() {
            var base = Double(height)
            for (name, count) in [
                ("delivered", span.delivered), ("expired", span.expired), ("refused", span.refused.total),
            ] where count > 0 {
                // What happened is seen, however little it is beside the rest.
                let size = max(2, Double(height) * Double(count) / Double(highest))
                base = max(0, base - size)
                let (x, width) = (step * Double(index) + step * 0.12, step * 0.76)
                rectangles.append(
                    """
                    <rect class="\(name)" x="\(number(x))" y="\(number(base))" width="\(number(width))" \
                    height="\(number(size))"/>
                    """)
            }
        }
        return """
            <svg class="plot" viewBox="0 0 \(width) \(height)" preserveAspectRatio="none" role="img" \
            aria-label="\(label)"><path class="grid" d="M0 0.5H\(width)M0 \(height / 2)H\(width)\
            M0 \(height)H\(width)"/>\(rectangles)</svg>
            """
    }

    static func total(_ span: History.Totals) -> Int { span.delivered + span.expired + span.refused.total }

    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }

    // MARK: QR code

    /// Light modules around the code, as the standard demands (ISO/IEC 18004, section 6.3.8).
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

    /// The same with block characters, two rows of modules in each line, dark on light.
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
