/// The part of Foundation that ArgumentParser asks for, and nothing more: descriptions of errors, and JSON of its commands
/// for man pages.
///
/// `Deploy/install` compiles this folder under the name `FoundationEssentials` and lets ArgumentParser find it before the
/// toolchain's, which weighs ten megabytes in a program, and which can't be had for arm64. Under its own name only the tests
/// know it: they compare its texts with Foundation's.
public final class JSONEncoder {
    public struct OutputFormatting: OptionSet, Sendable {
        public let rawValue: UInt

        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        public static let prettyPrinted = OutputFormatting(rawValue: 1)
        public static let sortedKeys = OutputFormatting(rawValue: 2)
    }

    /// Whatever is chosen, the text is as with both: pretty, and sorted by key.
    public var outputFormatting: OutputFormatting = []

    public init() {}

    /// Returns the value as JSON.
    ///
    /// - Throws: What the value's own `encode(to:)` throws.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        let node = JSONNode()
        try value.encode(to: NodeEncoder(node: node, codingPath: []))
        var text = ""
        node.write(to: &text, depth: 0)
        return Data(bytes: Array(text.utf8))
    }
}

public struct Data: Sendable {
    let bytes: [UInt8]
}

extension String {
    public enum Encoding: Sendable {
        case utf8
    }

    public init?(data: Data, encoding: Encoding) {
        self.init(validating: data.bytes, as: UTF8.self)
    }
}

/// An error that brings its own sentence for people.
public protocol LocalizedError: Error {
    var errorDescription: String? { get }
}

extension LocalizedError {
    public var errorDescription: String? { nil }
}
