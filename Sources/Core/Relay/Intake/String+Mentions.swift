extension String {
    /// Whether these words occur in the text, byte for byte.
    ///
    /// The standard library looks for a string in a string with the code of its regular expressions: a tenth of the
    /// node's size, which the node does without.
    package func mentions(_ words: String) -> Bool {
        let (bytes, sought) = (Array(utf8), Array(words.utf8))
        guard bytes.count >= sought.count else { return false }
        return (0...bytes.count - sought.count).contains { bytes[$0...].starts(with: sought) }
    }
}
