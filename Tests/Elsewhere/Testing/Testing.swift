import CTests
import Glibc
import Synchronization

/// A small `Testing`, for an architecture to which nobody has brought swift-testing: what these tests use of it, and no more.
/// The macros are the compiler's own; the tests run one after the other.
public struct Test: Sendable {
    public typealias __Parameter = (firstName: String, secondName: String?, type: any Any.Type)

    /// The suite's and the function's; `nil`: a suite, which is nothing to run.
    let name: String?
    let isEnabled: Bool
    let run:
        @Sendable (_ attempt: (_ argument: String, () async throws -> Void) async -> Void) async throws ->
            Void
}

public struct SourceLocation: Sendable {
    let file: String
    let line: Int

    public init(__uncheckedFileID file: String, filePath: String, line: Int, column: Int) {
        self.file = file
        self.line = line
    }

    public static func __here(
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
    ) -> Self {
        Self(__uncheckedFileID: fileID, filePath: filePath, line: line, column: column)
    }
}

public struct Comment: Sendable, ExpressibleByStringInterpolation {
    let text: String

    public init(rawValue: String) { text = rawValue }
    public init(stringLiteral: String) { text = stringLiteral }
}

public protocol CustomTestStringConvertible {
    var testDescription: String { get }
}

public protocol Trait: Sendable {}
public protocol TestTrait: Trait {}
public protocol SuiteTrait: Trait {}

extension Comment: TestTrait, SuiteTrait {}

/// The macros hand the comment above a test over.
extension Trait where Self == Comment {
    public static func __line(_ text: String) -> Self { Self(rawValue: text) }
    public static func __block(_ text: String) -> Self { Self(rawValue: text) }
    public static func __documentationLine(_ text: String) -> Self { Self(rawValue: text) }
    public static func __documentationBlock(_ text: String) -> Self { Self(rawValue: text) }
}

/// They run one after the other anyway.
public struct ParallelizationTrait: TestTrait, SuiteTrait {}

public struct ConditionTrait: TestTrait, SuiteTrait {
    let isMet: @Sendable () -> Bool
}

extension Trait where Self == ParallelizationTrait {
    public static var serialized: Self { Self() }
}

extension Trait where Self == ConditionTrait {
    public static func enabled(
        if condition: @autoclosure @escaping @Sendable () -> Bool, _ comment: Comment? = nil
    ) -> Self { Self(isMet: condition) }
}

/// What was not as expected.
public struct Issue {
    public static func record(
        _ comment: Comment? = nil, sourceLocation: SourceLocation = .__here()
    ) {
        Findings.add("an issue", comment.map { [$0] } ?? [], sourceLocation)
    }

    public static func record(
        _ error: any Error, _ comment: Comment? = nil, sourceLocation: SourceLocation = .__here()
    ) {
        Findings.add("\(error)", comment.map { [$0] } ?? [], sourceLocation)
    }
}

/// What was found so far, of all tests.
enum Findings {
    private static let findings = Mutex(0)

    static var count: Int { findings.withLock(\.self) }

    static func add(_ text: String, _ comments: [Comment], _ location: SourceLocation) {
        findings.withLock { $0 += 1 }
        let words = comments.map { "; \($0.text)" }.joined()
        print("  \(location.file):\(location.line): \(text)\(words)")
    }
}

public let __defaultSynchronousIsolationContext: (any Actor)? = nil
public typealias __XCTestCompatibleSelector = Never

public func __requiringTry<T>(_ value: T) throws -> T { value }
public func __requiringAwait<T>(_ value: T, isolation: isolated (any Actor)? = #isolation) async -> T {
    value
}
@unsafe public func __requiringUnsafe<T>(_ value: T) -> T { value }
