// The declarations by which the compiler's own plugin (TestingMacros) expands `@Test`, `#expect` and the rest. Names and labels are
// those of swift-testing's public interface, as its module for this machine has it.

@attached(peer) public macro Suite(_ traits: any SuiteTrait...) =
    #externalMacro(module: "TestingMacros", type: "SuiteDeclarationMacro")
@attached(peer) public macro Test(_ traits: any TestTrait...) =
    #externalMacro(module: "TestingMacros", type: "TestDeclarationMacro")
@attached(peer) public macro Test(_ name: String, _ traits: any TestTrait...) =
    #externalMacro(module: "TestingMacros", type: "TestDeclarationMacro")
@attached(peer) public macro Test<C: Collection & Sendable>(
    _ traits: any TestTrait..., arguments collection: C
) = #externalMacro(module: "TestingMacros", type: "TestDeclarationMacro") where C.Element: Sendable
@attached(peer) public macro Test<A: Collection & Sendable, B: Collection & Sendable>(
    _ traits: any TestTrait..., arguments first: A, _ second: B
) =
    #externalMacro(module: "TestingMacros", type: "TestDeclarationMacro")
where A.Element: Sendable, B.Element: Sendable
@attached(peer) public macro Test<A: Collection & Sendable, B: Collection & Sendable>(
    _ traits: any TestTrait..., arguments pairs: Zip2Sequence<A, B>
) =
    #externalMacro(module: "TestingMacros", type: "TestDeclarationMacro")
where A.Element: Sendable, B.Element: Sendable

@freestanding(expression) public macro _sourceLocation() -> SourceLocation =
    #externalMacro(module: "TestingMacros", type: "SourceLocationMacro")

@freestanding(expression) public macro expect(
    _ condition: Bool, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) = #externalMacro(module: "TestingMacros", type: "ExpectMacro")
@freestanding(expression) public macro require(
    _ condition: Bool, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) = #externalMacro(module: "TestingMacros", type: "RequireMacro")
@freestanding(expression) public macro require<T>(
    _ optional: T?, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) -> T = #externalMacro(module: "TestingMacros", type: "RequireMacro")

@discardableResult
@freestanding(expression) public macro expect<E: Error, R>(
    throws type: E.Type, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, performing body: () throws -> R
) -> E? = #externalMacro(module: "TestingMacros", type: "ExpectMacro")
@discardableResult
@freestanding(expression) public macro expect<E: Error, R>(
    throws type: E.Type, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, performing body: () async throws -> R
) -> E? = #externalMacro(module: "TestingMacros", type: "ExpectMacro")
@discardableResult
@freestanding(expression) public macro expect<E: Error & Equatable, R>(
    throws error: E, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, performing body: () throws -> R
) -> E? = #externalMacro(module: "TestingMacros", type: "ExpectMacro")
@discardableResult
@freestanding(expression) public macro expect<E: Error & Equatable, R>(
    throws error: E, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, performing body: () async throws -> R
) -> E? = #externalMacro(module: "TestingMacros", type: "ExpectMacro")
@discardableResult
@freestanding(expression) public macro require<E: Error, R>(
    throws type: E.Type, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, performing body: () throws -> R
) -> E = #externalMacro(module: "TestingMacros", type: "RequireThrowsMacro")
@discardableResult
@freestanding(expression) public macro require<E: Error, R>(
    throws type: E.Type, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation, performing body: () async throws -> R
) -> E = #externalMacro(module: "TestingMacros", type: "RequireThrowsMacro")
