import CTests
import Glibc

public typealias __TestContentRecordAccessor =
    @convention(c) (
        _ outValue: UnsafeMutableRawPointer, _ type: UnsafeRawPointer, _ hint: UnsafeRawPointer?,
        _ reserved: UInt
    ) -> CBool
public typealias __TestContentRecord = (
    kind: UInt32, reserved1: UInt32, accessor: __TestContentRecordAccessor, context: UInt, reserved2: UInt
)

extension Test {
    private typealias Generator = @Sendable () async -> Test

    /// `test`, as four letters.
    private static let kind: UInt32 = 0x7465_7374

    /// Called by a record's accessor. Only ``all()`` calls that, with a place for one generator.
    public static func __store(
        _ generator: @escaping @Sendable () async -> Test, into place: UnsafeMutableRawPointer,
        asTypeAt type: UnsafeRawPointer
    ) -> CBool {
        unsafe place.initializeMemory(as: Generator.self, to: generator)
        return true
    }

    static func all() async -> [Test] {
        var tests: [Test] = []
        for generator in found() { tests.append(await generator()) }
        return tests
    }

    /// The records are the linker's, for as long as the program runs.
    private static func found() -> [Generator] {
        guard let first = unsafe onionbell_first_test(), let last = unsafe onionbell_last_test() else {
            return []
        }
        let count = unsafe (last - first) / MemoryLayout<__TestContentRecord>.stride
        let records = unsafe UnsafeBufferPointer(
            start: first.assumingMemoryBound(to: __TestContentRecord.self), count: count)
        return unsafe records.compactMap { record in
            guard unsafe record.kind == kind else { return nil }
            let place = UnsafeMutablePointer<Generator>.allocate(capacity: 1)
            defer { unsafe place.deallocate() }
            var type: any Any.Type = Test.self
            guard unsafe record.accessor(place, &type, nil, 0) else { return nil }
            return unsafe place.move()
        }
    }

    public static func __type<S>(
        _ type: S.Type, displayName: String? = nil, traits: [any SuiteTrait], sourceLocation: SourceLocation
    ) -> Test {
        Test(name: nil, isEnabled: true) { _ in }
    }

    private static func make<S>(
        _ name: String, _ type: S.Type?, _ traits: [any TestTrait],
        _ run:
            @escaping @Sendable ((_ argument: String, () async throws -> Void) async -> Void) async throws
            -> Void
    ) -> Test {
        let isEnabled = traits.allSatisfy { ($0 as? ConditionTrait)?.isMet() ?? true }
        return Test(name: (type.map { "\($0)." } ?? "") + name, isEnabled: isEnabled, run: run)
    }

    public static func __function<S>(
        named name: String, in type: S.Type?, xcTestCompatibleSelector: __XCTestCompatibleSelector?,
        displayName: String? = nil, traits: [any TestTrait], sourceLocation: SourceLocation,
        parameters: [__Parameter] = [], testFunction: @escaping @Sendable () async throws -> Void
    ) -> Test {
        make(name, type, traits) { attempt in await attempt("", testFunction) }
    }

    public static func __function<S, C: Collection & Sendable>(
        named name: String, in type: S.Type?, xcTestCompatibleSelector: __XCTestCompatibleSelector?,
        displayName: String? = nil, traits: [any TestTrait],
        arguments: @escaping @Sendable () async throws -> C, sourceLocation: SourceLocation,
        parameters: [__Parameter], testFunction: @escaping @Sendable (C.Element) async throws -> Void
    ) -> Test where C.Element: Sendable {
        make(name, type, traits) { attempt in
            for argument in try await arguments() {
                await attempt("\(argument)") { try await testFunction(argument) }
            }
        }
    }

    public static func __function<S, A: Sendable, B: Sendable, C: Collection & Sendable>(
        named name: String, in type: S.Type?, xcTestCompatibleSelector: __XCTestCompatibleSelector?,
        displayName: String? = nil, traits: [any TestTrait],
        arguments: @escaping @Sendable () async throws -> C, sourceLocation: SourceLocation,
        parameters: [__Parameter], testFunction: @escaping @Sendable ((A, B)) async throws -> Void
    ) -> Test where C.Element == (A, B) {
        make(name, type, traits) { attempt in
            for argument in try await arguments() {
                await attempt("\(argument)") { try await testFunction(argument) }
            }
        }
    }

    public static func __function<S, A: Collection & Sendable, B: Collection & Sendable>(
        named name: String, in type: S.Type?, xcTestCompatibleSelector: __XCTestCompatibleSelector?,
        displayName: String? = nil, traits: [any TestTrait],
        arguments first: @escaping @Sendable () async throws -> A,
        _ second: @escaping @Sendable () async throws -> B, sourceLocation: SourceLocation,
        parameters: [__Parameter],
        testFunction: @escaping @Sendable (A.Element, B.Element) async throws -> Void
    ) -> Test where A.Element: Sendable, B.Element: Sendable {
        make(name, type, traits) { attempt in
            let others = try await second()
            for one in try await first() {
                for other in others {
                    await attempt("\(one), \(other)") { try await testFunction(one, other) }
                }
            }
        }
    }

    public static func __function<S, A: Collection & Sendable, B: Collection & Sendable>(
        named name: String, in type: S.Type?, xcTestCompatibleSelector: __XCTestCompatibleSelector?,
        displayName: String? = nil, traits: [any TestTrait],
        arguments pairs: @escaping @Sendable () async throws -> Zip2Sequence<A, B>,
        sourceLocation: SourceLocation, parameters: [__Parameter],
        testFunction: @escaping @Sendable (A.Element, B.Element) async throws -> Void
    ) -> Test where A.Element: Sendable, B.Element: Sendable {
        make(name, type, traits) { attempt in
            for (one, other) in try await pairs() {
                await attempt("\(one), \(other)") { try await testFunction(one, other) }
            }
        }
    }
}

/// Runs all tests, or those whose name has one of the words after `--filter`. Ends with 1 if one failed.
public func __swiftPMEntryPoint() async -> Never {
    // Whoever waits sees what has failed so far.
    onionbell_print_by_lines()
    let words = CommandLine.arguments.drop { $0 != "--filter" }.dropFirst()
    var passed = 0
    var failed: [String] = []
    for test in await Test.all().sorted(by: { $0.name ?? "" < $1.name ?? "" }) {
        guard let name = test.name, test.isEnabled,
            words.isEmpty || words.contains(where: { name.contains($0) })
        else { continue }
        let before = Findings.count
        let start = ContinuousClock.now
        do {
            try await test.run { argument, attempt in
                do {
                    try await attempt()
                } catch is ExpectationFailedError {
                    // Told already.
                } catch {
                    Findings.add(
                        "\(name): \(error)", argument.isEmpty ? [] : [Comment(rawValue: argument)],
                        SourceLocation(__uncheckedFileID: "thrown", filePath: "", line: 0, column: 0))
                }
            }
        } catch {
            Issue.record(error)
        }
        let time = ContinuousClock.now - start
        if time > .seconds(10) { print("  \(name) took \(time)") }
        if Findings.count == before {
            passed += 1
        } else {
            failed.append(name)
            print("FAILED: \(name)")
        }
    }
    print("\(passed) passed, \(failed.count) failed")
    exit(failed.isEmpty && passed > 0 ? 0 : 1)
}
