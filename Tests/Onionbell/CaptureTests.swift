import Foundation
import Testing

/// A closure that holds nobody (`[unowned self]`) runs at once or not at all. What goes on later, a task or the rest
/// after an `await`, may find that its owner is gone, and that ends the program.
@Suite struct CaptureTests {
    private struct Closure: CustomStringConvertible {
        let file: String
        let line: Int
        /// The text from the end of the capture list to the closing brace.
        let body: Substring

        var description: String { "\(file):\(line)" }
    }

    /// All closures with `unowned` in their capture list.
    private static let closures: [Closure] = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        var closures: [Closure] = []
        for folder in ["Sources", "Tests"] {
            let all = FileManager.default.enumerator(atPath: root.appending(path: folder).path)?.allObjects
            for file in (all ?? []).compactMap({ $0 as? String }).sorted() where file.hasSuffix(".swift") {
                let url = root.appending(path: folder).appending(path: file)
                let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
                for list in text.matches(of: /\{\s*\[[^\]\n]*\bunowned\b[^\]\n]*\]/).map(\.range) {
                    let line = text[..<list.lowerBound].count { $0 == "\n" } + 1
                    let body = body(text[list.upperBound...])
                    closures.append(Closure(file: folder + "/" + file, line: line, body: body))
                }
            }
        }
        return closures
    }()

    /// Returns the text before the brace that closes what is open.
    private static func body(_ text: Substring) -> Substring {
        var depth = 1
        let end = text.firstIndex { character in
            depth += character == "{" ? 1 : character == "}" ? -1 : 0
            return depth == 0
        }
        return text[..<(end ?? text.endIndex)]
    }

    @Test func aTaskInAClosureThatHoldsNobodySaysWhomItHolds() {
        let wrong = Self.closures.filter { closure in
            closure.body.contains(/\bTask\b[^{\n]*\{(?! *\[)/)
                || closure.body.contains(/\bTask\b[^{\n]*\{ *\[[^\]]*\bunowned\b/)
        }
        #expect(Self.closures.count > 150)
        #expect(wrong.isEmpty, "\(wrong)")
    }

    @Test func aClosureThatHoldsNobodyWaitsInItsLastLineOnly() {
        let wrong = Self.closures.filter { closure in
            let own = closure.body.replacing(/\bTask\b[^{\n]*\{ *\[(.|\n)*/, with: "")
            guard let wait = own.firstRange(of: /\bawait\b/) else { return false }
            return own[wait.upperBound...].trimmingCharacters(in: .whitespacesAndNewlines).contains("\n")
        }
        #expect(wrong.isEmpty, "\(wrong)")
    }
}
