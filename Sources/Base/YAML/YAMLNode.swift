/// A value of a YAML document, and the line where it begins.
package struct YAMLNode: Equatable, Sendable {
    package enum Content: Equatable, Sendable {
        /// The text of a scalar. `isPlain`: it is written without quotes and not as a block.
        case scalar(String, isPlain: Bool)
        case sequence([YAMLNode])
        /// The entries in the document's order; no two keys are alike.
        case mapping([Entry])
    }

    package struct Entry: Equatable, Sendable {
        package let key: YAMLNode
        package let value: YAMLNode
    }

    package let content: Content
    /// The number of the node's line, from 1.
    package let line: Int

    /// The text of a single value.
    package var text: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    package var items: [YAMLNode]? {
        if case .sequence(let items) = content { items } else { nil }
    }

    package var entries: [Entry]? {
        if case .mapping(let entries) = content { entries } else { nil }
    }

    /// Whether there is nothing behind the key, `~` or `null`.
    package var isNull: Bool {
        guard case .scalar(let text, isPlain: true) = content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// Returns the value under a key; `nil` when there is none, or this is no mapping.
    package subscript(_ key: String) -> YAMLNode? {
        entries?.first { $0.key.text == key }?.value
    }
}

/// Why a text gave no tree.
package enum YAMLError: Error, Equatable {
    /// libyaml's words; they quote nothing of the text.
    case notYAML(problem: String, line: Int)
    /// `&` or `*`: a tree without aliases is no larger than its text, whatever the text is.
    case alias(line: Int)
    case duplicateKey(String, line: Int)
    case tooDeep(line: Int)
    case outOfMemory
}
