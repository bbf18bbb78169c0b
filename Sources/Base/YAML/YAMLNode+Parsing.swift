import CYAML

extension YAMLNode {
    /// The most lists and mappings within each other.
    package static let deepest = 32

    /// Reads the tree of a text that holds one YAML 1.1 document at most; `nil` for a text without a value.
    /// Tags are passed over: every scalar is its text.
    package static func parse(_ text: String) throws(YAMLError) -> YAMLNode? {
        var text = text
        let result = text.withUTF8 { bytes in
            Result { () throws(YAMLError) in try EventReader(bytes).document() }
        }
        return try result.get()
    }
}

/// libyaml's parser over a text that outlives it.
private struct EventReader: ~Copyable {
    // Owned, freed in deinit together with what libyaml keeps for it.
    private let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    private let text: UnsafeBufferPointer<UInt8>

    init(_ text: UnsafeBufferPointer<UInt8>) throws(YAMLError) {
        self.text = text
        guard yaml_parser_initialize(parser) == 1 else { throw .outOfMemory }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, text.baseAddress, text.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
    }

    func document() throws(YAMLError) -> YAMLNode? {
        guard try begin(YAML_DOCUMENT_START_EVENT) else { return nil }
        let root = try node(from: try next(), depth: 0)
        _ = try next()  // the document's end
        let after = try next()
        guard after.type == YAML_STREAM_END_EVENT else {
            throw .notYAML(problem: "more than one document", line: after.line)
        }
        return root
    }

    /// Whether an event of this type comes before the stream's end.
    private func begin(_ type: yaml_event_type_t) throws(YAMLError) -> Bool {
        while true {
            let event = try next()
            if event.type == type { return true }
            if event.type == YAML_STREAM_END_EVENT { return false }
        }
    }

    private func node(from event: borrowing Event, depth: Int) throws(YAMLError) -> YAMLNode {
        guard !event.isAliasOrAnchored else { throw .alias(line: event.line) }
        guard depth <= YAMLNode.deepest else { throw .tooDeep(line: event.line) }
        let content: YAMLNode.Content =
            switch event.type {
            case YAML_SEQUENCE_START_EVENT: .sequence(try items(depth: depth + 1))
            case YAML_MAPPING_START_EVENT: .mapping(try entries(depth: depth + 1))
            default: .scalar(event.text, isPlain: event.isPlain)
            }
        return YAMLNode(content: content, line: event.line)
    }

    private func items(depth: Int) throws(YAMLError) -> [YAMLNode] {
        var items: [YAMLNode] = []
        while true {
            let event = try next()
            guard event.type != YAML_SEQUENCE_END_EVENT else { return items }
            items.append(try node(from: event, depth: depth))
        }
    }

    private func entries(depth: Int) throws(YAMLError) -> [YAMLNode.Entry] {
        var entries: [YAMLNode.Entry] = []
        var names: Set<String> = []
        while true {
            let event = try next()
            guard event.type != YAML_MAPPING_END_EVENT else { return entries }
            let key = try node(from: event, depth: depth)
            if let name = key.text, !names.insert(name).inserted {
                throw .duplicateKey(name, line: key.line)
            }
            entries.append(YAMLNode.Entry(key: key, value: try node(from: try next(), depth: depth)))
        }
    }

    private func next() throws(YAMLError) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw failure }
        return Event(event)
    }

    private var failure: YAMLError {
        let parser = parser.pointee
        guard parser.error != YAML_MEMORY_ERROR else { return .outOfMemory }
        // The reader, which looks at characters before there are lines, gives a place in bytes.
        let line =
            parser.error == YAML_READER_ERROR
            ? text.prefix(parser.problem_offset).count { $0 == UInt8(ascii: "\n") }
            : parser.problem_mark.line
        return .notYAML(
            problem: parser.problem.map { String(cString: $0) } ?? "unknown", line: line + 1)
    }
}

/// One event, freed when it is let go.
private struct Event: ~Copyable {
    private var event: yaml_event_t

    init(_ event: yaml_event_t) { self.event = event }

    deinit {
        var event = event
        yaml_event_delete(&event)
    }

    var type: yaml_event_type_t { event.type }
    var line: Int { event.start_mark.line + 1 }

    var isAliasOrAnchored: Bool {
        switch event.type {
        case YAML_ALIAS_EVENT: true
        case YAML_SCALAR_EVENT: event.data.scalar.anchor != nil
        case YAML_SEQUENCE_START_EVENT: event.data.sequence_start.anchor != nil
        case YAML_MAPPING_START_EVENT: event.data.mapping_start.anchor != nil
        default: false
        }
    }

    /// The text of a scalar.
    var text: String {
        String(
            decoding: UnsafeBufferPointer(start: event.data.scalar.value, count: event.data.scalar.length),
            as: UTF8.self)
    }

    /// Whether a scalar stands without quotation marks.
    var isPlain: Bool { event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE }
}
