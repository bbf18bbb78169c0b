/// Fills a ``JSONNode`` with what a value encodes.
struct NodeEncoder: Encoder {
    let node: JSONNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .object = node.content {} else { node.content = .object([:]) }
        return KeyedEncodingContainer(KeyedNode<Key>(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array = node.content {} else { node.content = .array([]) }
        return UnkeyedNode(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleNode(node: node, codingPath: codingPath)
    }
}

private struct SingleNode: SingleValueEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]

    func encodeNil() { node.content = .null }

    func encode<Value: Encodable>(_ value: Value) throws {
        switch value {
        case let string as String: node.content = .string(string)
        case let truth as Bool: node.content = .literal(truth ? "true" : "false")
        case let number as any BinaryInteger: node.content = .literal("\(number)")
        case let number as any BinaryFloatingPoint:
            throw EncodingError.invalidValue(
                number, .init(codingPath: codingPath, debugDescription: "no fractions are written here"))
        default: try value.encode(to: NodeEncoder(node: node, codingPath: codingPath))
        }
    }
}

private struct UnkeyedNode: UnkeyedEncodingContainer {
    let node: JSONNode
    let codingPath: [any CodingKey]

    var count: Int {
        if case .array(let nodes) = node.content { nodes.count } else { 0 }
    }

    private func next() -> JSONNode {
        let next = JSONNode()
        if case .array(let nodes) = node.content { node.content = .array(nodes + [next]) }
        return next
    }

    func encodeNil() { _ = next() }

    func encode<Value: Encodable>(_ value: Value) throws {
        try SingleNode(node: next(), codingPath: codingPath).encode(value)
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<
        NestedKey
    > {
        NodeEncoder(node: next(), codingPath: codingPath).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        NodeEncoder(node: next(), codingPath: codingPath).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { NodeEncoder(node: next(), codingPath: codingPath) }
}

private struct KeyedNode<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONNode
    let codingPath: [any CodingKey]

    private func next(_ key: String) -> JSONNode {
        let next = JSONNode()
        if case .object(var nodes) = node.content {
            nodes[key] = next
            node.content = .object(nodes)
        }
        return next
    }

    func encodeNil(forKey key: Key) { _ = next(key.stringValue) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try SingleNode(node: next(key.stringValue), codingPath: codingPath + [key]).encode(value)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        NodeEncoder(node: next(key.stringValue), codingPath: codingPath + [key]).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        NodeEncoder(node: next(key.stringValue), codingPath: codingPath + [key]).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { NodeEncoder(node: next("super"), codingPath: codingPath) }

    func superEncoder(forKey key: Key) -> any Encoder {
        NodeEncoder(node: next(key.stringValue), codingPath: codingPath + [key])
    }
}
