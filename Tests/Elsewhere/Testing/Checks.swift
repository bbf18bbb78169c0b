// The functions that an expanded `#expect` or `#require` calls. Each gives what was found to ``Findings`` and goes on.

/// The source text of what was expected.
public struct __Expression: Sendable {
    let text: String
    /// Whether the value is that of what stands behind a `!`.
    var isNegated = false

    public static func __fromSyntaxNode(_ text: String) -> Self { Self(text: text) }
    public static func __fromStringLiteral(_ text: String, _ value: String) -> Self { Self(text: text) }
    public static func __fromBinaryOperation(_ left: Self, _ operation: String, _ right: Self) -> Self {
        Self(text: "\(left.text) \(operation) \(right.text)")
    }
    public static func __fromFunctionCall(
        _ value: Self?, _ name: String, _ arguments: (label: String?, value: Self)...
    ) -> Self {
        let words = arguments.map { argument in
            argument.label.map { "\($0): " }.map { $0 + argument.value.text } ?? argument.value.text
        }
        return Self(text: "\(value.map { $0.text + "." } ?? "")\(name)(\(words.joined(separator: ", ")))")
    }
    public static func __fromPropertyAccess(_ value: Self, _ path: Self) -> Self {
        Self(text: "\(value.text).\(path.text)")
    }
    public static func __fromNegation(_ expression: Self, _ hasParentheses: Bool) -> Self {
        Self(text: "!(\(expression.text))", isNegated: !expression.isNegated)
    }
}

/// Thrown by `#require`, after what it has found was told.
public struct ExpectationFailedError: Error {}

extension Result {
    public func __expected() where Success == Void {}
    public func __required() throws -> Success { try get() }

    @discardableResult
    public func __expected<T>() -> Success where Success == T? { try? get() }

    @discardableResult
    public func __required<T>() throws -> T where Success == T? {
        guard let value = try get() else { throw ExpectationFailedError() }
        return value
    }
}

private func found<Value>(
    _ value: Value?, _ expression: __Expression, _ values: @autoclosure () -> String,
    _ comments: [Comment], _ location: SourceLocation
) -> Result<Value, any Error> {
    if let value { return .success(value) }
    let values = values()
    Findings.add("\(expression.text)\(values.isEmpty ? "" : " <- \(values)")", comments, location)
    return .failure(ExpectationFailedError())
}

public func __checkValue(
    _ condition: Bool, expression: __Expression, comments: @autoclosure () -> [Comment], isRequired: Bool,
    sourceLocation: SourceLocation
) -> Result<Void, any Error> {
    let isSo = condition != expression.isNegated
    return found(isSo ? () : nil, expression, "", isSo ? [] : comments(), sourceLocation)
}

public func __checkValue<T>(
    _ optional: T?, expression: __Expression, comments: @autoclosure () -> [Comment], isRequired: Bool,
    sourceLocation: SourceLocation
) -> Result<T, any Error> {
    found(optional, expression, "", optional == nil ? comments() : [], sourceLocation)
}

public func __checkBinaryOperation<T, U>(
    _ left: T, _ operation: (T, () -> U) -> Bool, _ right: @autoclosure () -> U, expression: __Expression,
    comments: @autoclosure () -> [Comment], isRequired: Bool, sourceLocation: SourceLocation
) -> Result<Void, any Error> {
    var other: U?
    let isSo = withoutActuallyEscaping(right) { right in
        operation(left) {
            let value = right()
            other = value
            return value
        }
    }
    return found(
        isSo ? () : nil, expression, "\(left), \(other.map { "\($0)" } ?? "not asked")",
        isSo ? [] : comments(),
        sourceLocation)
}

@_disfavoredOverload
public func __checkBinaryOperation<T>(
    _ left: T?, _ operation: (T?, () -> T?) -> T?, _ right: @autoclosure () -> T?, expression: __Expression,
    comments: @autoclosure () -> [Comment], isRequired: Bool, sourceLocation: SourceLocation
) -> Result<T, any Error> {
    let value = withoutActuallyEscaping(right) { operation(left, $0) }
    return found(value, expression, "", value == nil ? comments() : [], sourceLocation)
}

public func __checkFunctionCall<T, each U>(
    _ value: T, calling call: (T, repeat each U) throws -> Bool, _ arguments: repeat each U,
    expression: __Expression, comments: @autoclosure () -> [Comment], isRequired: Bool,
    sourceLocation: SourceLocation
) rethrows -> Result<Void, any Error> {
    let isSo = try call(value, repeat each arguments) != expression.isNegated
    return found(isSo ? () : nil, expression, "\(value)", isSo ? [] : comments(), sourceLocation)
}

@_disfavoredOverload
public func __checkFunctionCall<T, each U, R>(
    _ value: T, calling call: (T, repeat each U) throws -> R?, _ arguments: repeat each U,
    expression: __Expression, comments: @autoclosure () -> [Comment], isRequired: Bool,
    sourceLocation: SourceLocation
) rethrows -> Result<R, any Error> {
    let result = try call(value, repeat each arguments)
    return found(result, expression, "\(value)", result == nil ? comments() : [], sourceLocation)
}

public func __checkInoutFunctionCall<T, U>(
    _ value: T, calling call: (T, inout U) throws -> Bool, _ argument: inout U, expression: __Expression,
    comments: @autoclosure () -> [Comment], isRequired: Bool, sourceLocation: SourceLocation
) rethrows -> Result<Void, any Error> {
    let isSo = try call(value, &argument) != expression.isNegated
    return found(isSo ? () : nil, expression, "", isSo ? [] : comments(), sourceLocation)
}

public func __checkPropertyAccess<T>(
    _ value: T, getting get: (T) -> Bool, expression: __Expression, comments: @autoclosure () -> [Comment],
    isRequired: Bool, sourceLocation: SourceLocation
) -> Result<Void, any Error> {
    let isSo = get(value) != expression.isNegated
    return found(isSo ? () : nil, expression, "\(value)", isSo ? [] : comments(), sourceLocation)
}

public func __checkPropertyAccess<T, U>(
    _ value: T, getting get: (T) -> U?, expression: __Expression, comments: @autoclosure () -> [Comment],
    isRequired: Bool, sourceLocation: SourceLocation
) -> Result<U, any Error> {
    let result = get(value)
    return found(result, expression, "\(value)", result == nil ? comments() : [], sourceLocation)
}

public func __checkCast<V, T>(
    _ value: V, is type: T.Type, expression: __Expression, comments: @autoclosure () -> [Comment],
    isRequired: Bool, sourceLocation: SourceLocation
) -> Result<Void, any Error> {
    found(value is T != expression.isNegated ? () : nil, expression, "\(value)", comments(), sourceLocation)
}

public func __checkCast<V, T>(
    _ value: V, as type: T.Type, expression: __Expression, comments: @autoclosure () -> [Comment],
    isRequired: Bool, sourceLocation: SourceLocation
) -> Result<T, any Error> {
    found(value as? T, expression, "\(value)", comments(), sourceLocation)
}

private func judge<E>(
    _ thrown: (any Error)?, _ expected: String, _ isExpected: (E) -> Bool, _ expression: __Expression,
    _ comments: [Comment], _ location: SourceLocation
) -> Result<E?, any Error> {
    let error = (thrown as? E).flatMap { isExpected($0) ? $0 : nil }
    return found(
        error, expression, "\(expected) expected, \(thrown.map { "\($0)" } ?? "nothing") thrown", comments,
        location
    ).map { $0 }
}

public func __checkClosureCall<E: Error>(
    throws type: E.Type, performing body: () throws -> some Any, expression: __Expression,
    comments: @autoclosure () -> [Comment], isRequired: Bool, sourceLocation: SourceLocation
) -> Result<E?, any Error> {
    var thrown: (any Error)?
    do { _ = try body() } catch { thrown = error }
    return judge(thrown, "\(type)", { (_: E) in true }, expression, comments(), sourceLocation)
}

public func __checkClosureCall<E: Error>(
    throws type: E.Type, performing body: () async throws -> sending some Any, expression: __Expression,
    comments: @autoclosure () -> [Comment], isRequired: Bool,
    isolation: isolated (any Actor)? = #isolation, sourceLocation: SourceLocation
) async -> Result<E?, any Error> {
    var thrown: (any Error)?
    do { _ = try await body() } catch { thrown = error }
    return judge(thrown, "\(type)", { (_: E) in true }, expression, comments(), sourceLocation)
}

public func __checkClosureCall<E: Error & Equatable>(
    throws error: E, performing body: () throws -> some Any, expression: __Expression,
    comments: @autoclosure () -> [Comment], isRequired: Bool, sourceLocation: SourceLocation
) -> Result<E?, any Error> {
    var thrown: (any Error)?
    do { _ = try body() } catch { thrown = error }
    return judge(thrown, "\(error)", { $0 == error }, expression, comments(), sourceLocation)
}

public func __checkClosureCall<E: Error & Equatable>(
    throws error: E, performing body: () async throws -> sending some Any, expression: __Expression,
    comments: @autoclosure () -> [Comment], isRequired: Bool,
    isolation: isolated (any Actor)? = #isolation, sourceLocation: SourceLocation
) async -> Result<E?, any Error> {
    var thrown: (any Error)?
    do { _ = try await body() } catch { thrown = error }
    return judge(thrown, "\(error)", { $0 == error }, expression, comments(), sourceLocation)
}
