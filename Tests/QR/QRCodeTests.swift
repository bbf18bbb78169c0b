import Testing

@testable import QR

@Suite struct QRCodeTests {
    private let text =
        "iOS|iPhone 8 Plus|/XLNCjWgTeSOO5+vVohzWgZ1wY+aOUtR|" + String(repeating: "c0", count: 32)

    /// The modules as a camera would see them: dark where nothing is drawn.
    private func modules(of lines: [String]) -> [[Bool]] {
        lines.flatMap { line in
            [line.map { $0 == " " || $0 == "▄" }, line.map { $0 == " " || $0 == "▀" }]
        }
    }

    @Test(arguments: [QRCode.Level.low, .medium])
    func theDrawingIsTheCodeWithAQuietZone(level: QRCode.Level) throws {
        let code = try QRCode(text, level: level)
        let drawn = modules(of: code.lines(coloured: false))
        let zone = QRCode.quietZone
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
        let code = try QRCode(text)
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
        for line in try QRCode(text).lines(coloured: true) {
            #expect(line.hasPrefix("\u{1b}["))
            #expect(line.hasSuffix("\u{1b}[0m"))
        }
    }

    @Test(arguments: [QRCode.Level.low, .medium])
    func theLongestTextFitsAndOneByteMoreDoesNot(level: QRCode.Level) throws {
        let longest = String(repeating: "x", count: level.maximumBytes)
        #expect(try QRCode(longest, level: level).width == 177)
        #expect(
            throws: QRCodeError.tooLong(bytes: level.maximumBytes + 1, maximum: level.maximumBytes)
        ) { try QRCode(longest + "x", level: level) }
        #expect(throws: QRCodeError.empty) { try QRCode("", level: level) }
    }
}
