// Any bytes where JSON is expected. Built by Deploy/tools/fuzz.
@testable import JSONCoding

func fuzzJSON(_ input: [UInt8]) {
    if let value = try? JSON(input, maximumDepth: 8) { precondition(depth(of: value) <= 8) }
    guard !isCostOnly else { return }
    let text = String(decoding: input, as: UTF8.self)
    var written: [UInt8] = []
    written.append(jsonString: text)
    precondition((try? JSON(written)) == .string(text), "a written string is read differently")
}

private func depth(of value: JSON) -> Int {
    switch value {
    case .array(let elements): 1 + (elements.map(depth).max() ?? 0)
    case .object(let members): 1 + (members.values.map(depth).max() ?? 0)
    case .null, .bool, .integer, .number, .string: 0
    }
}
