import Reactor

/// A way to a SOCKS port that counts who comes, and may cut the first one off.
@EventLoop
final class Passage: StreamHandler {
    private(set) var accepted = 0
    private var listener: Listener!
    private var others: [ObjectIdentifier: Stream] = [:]
    private var cut: (stream: ObjectIdentifier, after: Int)?

    /// - Parameter limit: so many bytes are brought to the first one, and it is closed when there are more.
    init(to socks: Endpoint, firstIsBrought limit: Int = .max) throws {
        listener = try Listener(on: .host("127.0.0.1", port: 0)) { [unowned self] near in
            accepted += 1
            let isFirst = accepted == 1
            near.handler = self
            near.pauseReading()
            Task { [weak self] in
                await self?.join(near, to: socks, bringing: isFirst ? limit : nil)
            }
        }
    }

    /// - Parameter limit: so many bytes are brought to this one; `nil`: all.
    private func join(_ near: Stream, to socks: Endpoint, bringing limit: Int?) async {
        guard let far = try? await Stream.connect(to: socks) else { return near.close() }
        far.handler = self
        others[ObjectIdentifier(near)] = far
        others[ObjectIdentifier(far)] = near
        if let limit { cut = (ObjectIdentifier(far), limit) }
        far.resumeReading()
        near.resumeReading()
    }

    var endpoint: Endpoint { listener.endpoint }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        guard let other = others[ObjectIdentifier(stream)] else { return }
        if let (first, limit) = cut, first == ObjectIdentifier(stream) {
            guard bytes.byteCount <= limit else {
                // A later stream may lie where this one did.
                cut = nil
                forget(stream)
                return stream.close()
            }
            cut = (first, limit - bytes.byteCount)
        }
        other.write(bytes)
    }

    func stream(_ stream: Stream, ended end: StreamEnd) { forget(stream) }

    private func forget(_ stream: Stream) {
        guard let other = others.removeValue(forKey: ObjectIdentifier(stream)) else { return }
        others[ObjectIdentifier(other)] = nil
        other.close()
    }

    func close() { listener.close() }
}
