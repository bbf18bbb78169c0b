extension HTTP2ClientSession {
    /// Gives a request up: its stream is reset, and it ends in an event like any other. Looks at all open requests,
    /// so it is for the few whose answer never came.
    package func cancel(tag: Int) {
        var number = 1
        while let (stream, found) = withSlot(number, { ($0.streamID, $0.tag) }) {
            if stream != 0, found == tag { return submitReset(stream, code: .cancel) }
            number += 1
        }
    }
}
