import Testing

@testable import Lab

@Suite struct TerminalQRCodeTests {
    private let text =
        "iOS|iPhone 8 Plus|/XLNCjWgTeSOO5+vVohzWgZ1wY+aOUtR|" + String(repeating: "c0", count: 32)

    /// The modules as a camera would see them: dark where nothing is drawn.
    private func modules(of lines: [String]) -> [[Bool]] {
        lines.flatMap { line in
            [line.map { $0 == " " || $0 == "▄" }, line.map { $0 == " " || $0 == "▀" }]
        }
    }

    @Test(arguments: [TerminalQRCode.Level.low, .medium])
    func theDrawingIsTheCodeWithAQuietZone(level: TerminalQRCode.Level) throws {
        let code = try TerminalQRCode(text, level: level)
        let drawn = modules(of: code.lines(coloured: false))
        let zone = TerminalQRCode.quietZone
        let size = code.width + 2 * zone
        #expect(drawn.count == size + 1)
        for row in 0..<size {
            #expect(drawn[row].count == size)
            for column in 0..<size {
                #expect(drawn[row][column] == code.isDark(row: row - zone, column: column - zone))
            }
        }
    }

    @Test func threeCornersHaveTheFinderPattern() throws {
        let code = try TerminalQRCode(text)
        let last = code.width - 7
        for (top, left) in [(0, 0), (0, last), (last, 0)] {
            for row in 0..<7 {
                for column in 0..<7 {
                    let ring = min(min(row, 6 - row), min(column, 6 - column))
                    #expect(code.isDark(row: top + row, column: left + column) == (ring != 1))
                }
            }
        }
        // Row 6 alternates between the corners.
        for column in 8..<code.width - 8 {
            #expect(code.isDark(row: 6, column: column) == column.isMultiple(of: 2))
        }
    }

    @Test func coloursAreSetAndTakenBack() throws {
        for line in try TerminalQRCode(text).lines(coloured: true) {
            #expect(line.hasPrefix("\u{1b}["))
            #expect(line.hasSuffix("\u{1b}[0m"))
        }
    }

    @Test(arguments: [TerminalQRCode.Level.low, .medium])
    func theLongestTextFitsAndOneByteMoreDoesNot(level: TerminalQRCode.Level) throws {
        let longest = String(repeating: "x", count: level.maximumBytes)
        #expect(try TerminalQRCode(longest, level: level).width == 177)
        #expect(
            throws: QRCodeError.tooLong(bytes: level.maximumBytes + 1, maximum: level.maximumBytes)
        ) { try TerminalQRCode(longest + "x", level: level) }
        #expect(throws: QRCodeError.empty) { try TerminalQRCode("", level: level) }
    }
}
