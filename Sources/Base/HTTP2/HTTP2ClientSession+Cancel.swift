extension HTTP2ClientSession {
    /// Gives a request up: its stream is reset, and it ends in an event like any other. Looks at all open requests,
    /// so it is for the few whose answer never came.
    package func cancel(tag: Int) {
        if let stream = openStream(where: { $0.tag == tag }) { submitReset(stream.id, code: .cancel) }
    }
}
