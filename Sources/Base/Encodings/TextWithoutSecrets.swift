extension String {
    /// The text of a setting as a fault may show it: an address without its login, and without what stands behind a
    /// question mark or a number sign. People write tokens there.
    package var withoutSecrets: String {
        withBytes { bytes in
            var shown: [UInt8] = []
            var index = 0
            let end =
                (0..<bytes.count).first { [UInt8(ascii: "?"), UInt8(ascii: "#")].contains(bytes[$0]) }
                ?? bytes.count
            if let at = (0..<end).last(where: { bytes[$0] == UInt8(ascii: "@") }) {
                // The scheme stays.
                let slash = (0..<at).last { bytes[$0] == UInt8(ascii: "/") }
                for place in 0..<(slash.map { $0 + 1 } ?? 0) { shown.append(bytes[place]) }
                shown += Array("…".utf8)
                index = at
            }
            while index < end {
                shown.append(bytes[index])
                index += 1
            }
            if end < bytes.count { shown += [bytes[end]] + Array("…".utf8) }
            return String(decoding: shown, as: UTF8.self)
        }
    }
}
