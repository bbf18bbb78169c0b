import CEvent
import Clocks
import Glibc

/// A connected socket (TCP or Unix), non-blocking, owned by the event loop.
///
/// It holds no read buffer: bytes are handed over as they come, 64 KiB at a time at most. What is written is gathered
/// and sent once at the end of the loop's turn. A peer that doesn't read makes ``unsentBytes`` grow: the owner stops
/// producing, or ``pauseReading()``, above a bound of its own.
@EventLoop
package final class Stream {
    // What is unchecked here is accessed for an instant each time, and no closure gets it in its place: see
    // ``withOutput(_:)``. So no two accesses can overlap, which Swift would look for at each of them.
    @exclusivity(unchecked) package weak var handler: (any StreamHandler)?
    @exclusivity(unchecked) package private(set) var isOpen = true

    private let descriptor: Descriptor
    private var readEvent: LoopEvent!
    /// The event of writing, made at the first write that the kernel didn't take whole.
    private var writeEvent: LoopEvent?
    /// The event of the peer's end: see ``endWithPeer()``.
    private var endEvent: LoopEvent?
    @exclusivity(unchecked) private var isReading = true
    @exclusivity(unchecked) private var closesWhenFlushed = false
    @exclusivity(unchecked) private var isDirty = false
    @exclusivity(unchecked) private var output: [UInt8] = []
    @exclusivity(unchecked) private var sentCount = 0

    /// The time after which the stream ends if nothing is read; `nil`: it may be silent for ever.
    package var idleTimeout: Duration? {
        get { Stream.duration(idleMilliseconds) }
        set {
            idleMilliseconds = Stream.milliseconds(newValue)
            if isReading, isOpen { readEvent.add(milliseconds: idleMilliseconds) }
        }
    }
    /// The time after which the stream ends if the peer takes nothing of what waits for it.
    package var sendTimeout: Duration? {
        get { Stream.duration(sendMilliseconds) }
        set { sendMilliseconds = Stream.milliseconds(newValue) }
    }

    /// Milliseconds in a small number, since there are many streams; the largest: no end.
    private var idleMilliseconds = UInt32.max
    /// Milliseconds in the form of ``idleMilliseconds``.
    private var sendMilliseconds: UInt32 = 60_000

    private static func milliseconds(_ duration: Duration?) -> UInt32 {
        guard let duration else { return .max }
        let (seconds, attoseconds) = duration.components
        // Forty-nine days at most.
        return UInt32(
            clamping: min(
                Int64(UInt32.max) - 1,
                max(0, min(seconds, 5_000_000) * 1000 + attoseconds / 1_000_000_000_000_000)))
    }

    private static func duration(_ milliseconds: UInt32) -> Duration? {
        milliseconds == .max ? nil : .milliseconds(Int64(milliseconds))
    }

    /// The circuit of the stream as an earlier process has read it; `nil`: tor will tell it, or there is none.
    package internal(set) var circuit: UInt32?

    /// Bytes of room that stay allocated while nothing waits to be sent.
    @exclusivity(unchecked) package var keptOutputCapacity = 4096

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
        var on: CInt = 1
        // Fails on Unix sockets, which have no Nagle to switch off.
        setsockopt(
            self.descriptor.number, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
        readEvent = LoopEvent(descriptor: self.descriptor.number, events: EV_READ | EV_PERSIST) {
            [unowned self] what in
            // Only now is it taken out of the loop: most pauses are over before anything comes.
            guard isReading else { return readEvent.remove() }
            if Int32(what) & EV_READ != 0 {
                readAvailable()
            } else {
                end(Int32(what) & LoopEvent.failed != 0 ? .failed(Stream.unwatched) : .idle)
            }
        }
        readEvent.add()
    }

    private static let unwatched = SystemError("watch a connection", code: ENOSPC)

    /// The events leave the loop before the descriptor is closed, and on the loop: its number is at once another's.
    isolated deinit {
        readEvent = nil
        writeEvent = nil
        endEvent = nil
    }

    /// Bytes written that the kernel has not taken yet.
    package var unsentBytes: Int { output.count - sentCount }

    /// The address of the other end; `nil` for a Unix socket.
    package var peerAddress: NetworkAddress? { NetworkAddress(ofPeerAt: descriptor.number) }

    // MARK: Reading

    package func pauseReading() {
        guard isReading, isOpen else { return }
        isReading = false
    }

    /// Stops reading. The stream ends with the peer, whatever it has sent before.
    package func endWithPeer() {
        guard isOpen else { return }
        isReading = false
        readEvent.remove()
        endEvent = LoopEvent(descriptor: descriptor.number, events: EV_CLOSED) { [unowned self] _ in
            end(.closedByPeer)
        }
        endEvent?.add()
    }

    package func resumeReading() {
        guard !isReading, isOpen else { return }
        isReading = true
        endEvent?.remove()
        readEvent.add(milliseconds: idleMilliseconds)
    }

    private func readAvailable() {
        let buffer = Stream.readBuffer
        let count = recv(descriptor.number, buffer.baseAddress, buffer.count, 0)
        if count > 0 {
            let handler = handler
            handler?.stream(self, received: UnsafeRawBufferPointer(rebasing: buffer[..<count]).bytes)
        } else if count == 0 {
            end(.closedByPeer)
        } else if errno != EAGAIN, errno != EINTR {
            end(.failed(SystemError("read")))
        }
    }

    /// The buffer for what is read, one for all streams: it is only used within a callback of the loop. Lives
    /// as long as the process.
    private static let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65536, alignment: 16)

    // MARK: Writing

    package func write(_ bytes: [UInt8]) {
        guard isOpen, !closesWhenFlushed else { return }
        withOutput { $0.append(contentsOf: bytes) }
        flushAtEndOfTurn()
    }

    package func write(_ bytes: RawSpan) {
        guard isOpen, !closesWhenFlushed else { return }
        withOutput { output in bytes.withUnsafeBytes { output.append(contentsOf: $0) } }
        flushAtEndOfTurn()
    }

    /// Lets `body` append to what waits to be sent: saves the copy of a buffer of one's own.
    package func write(with body: (inout [UInt8]) -> Void) {
        guard isOpen, !closesWhenFlushed else { return }
        withOutput(body)
        flushAtEndOfTurn()
    }

    /// Hands waiting bytes to the kernel, as many as the kernel takes now. A part that fills a large buffer piece by piece
    /// calls it between two pieces. The rest, and an error, wait for the end of the turn.
    package func drain() {
        guard isOpen, unsentBytes > 0 else { return }
        let count = Stream.send(output, from: sentCount, to: descriptor.number)
        guard count > 0 else { return }
        sentCount += count
        guard unsentBytes == 0 else { return compact() }
        output.removeAll(keepingCapacity: true)
        sentCount = 0
    }

    /// Lends the output out of the object.
    private func withOutput<Result>(_ body: (inout [UInt8]) -> Result) -> Result {
        var bytes: [UInt8] = []
        swap(&bytes, &output)
        defer { swap(&bytes, &output) }
        return body(&bytes)
    }

    /// Lets go of room that is not needed now, and that ``keptOutputCapacity`` keeps.
    package func dropSpareRoom() { if output.isEmpty { output = [] } }

    private func flushAtEndOfTurn() {
        guard !isDirty else { return }
        isDirty = true
        Stream.dirty.append(self)
        Stream.flushDirty.schedule()
    }

    @exclusivity(unchecked) private static var dirty: [Stream] = []
    private static var flushing: [Stream] = []
    private static let flushDirty = EndOfTurn {
        swap(&dirty, &flushing)
        for stream in flushing {
            stream.isDirty = false
            stream.flush()
        }
        flushing.removeAll(keepingCapacity: true)
    }

    private func flush() {
        guard isOpen else { return }
        while unsentBytes > 0 {
            let count = Stream.send(output, from: sentCount, to: descriptor.number)
            if count >= 0 {
                sentCount += count
            } else if errno == EAGAIN {
                compact()
                waitUntilWritable()
                return
            } else if errno != EINTR {
                end(.failed(SystemError("write")))
                return
            }
        }
        output.removeAll(keepingCapacity: output.capacity <= keptOutputCapacity)
        sentCount = 0
        if closesWhenFlushed {
            finishSending()
        } else {
            handler?.streamFlushed(self)
        }
    }

    /// Needs no isolation, for which Swift would look in a closure.
    private nonisolated static func send(_ output: [UInt8], from start: Int, to descriptor: CInt) -> Int {
        output.withUnsafeBytes { bytes in
            Glibc.send(descriptor, bytes.baseAddress! + start, bytes.count - start, CInt(MSG_NOSIGNAL))
        }
    }

    /// Keeps the sent part from growing without copying the rest at every write.
    private func compact() {
        guard sentCount > 65536, sentCount > output.count / 2 else { return }
        output.removeFirst(sentCount)
        sentCount = 0
    }

    private func waitUntilWritable() {
        // Its owner has let go of it and counts it no more: it may not live on by taking a byte now and then.
        if closesWhenFlushed, EventLoop.now > lingerEnd { return close() }
        if writeEvent == nil {
            writeEvent = LoopEvent(descriptor: descriptor.number, events: EV_WRITE) { [unowned self] what in
                if Int32(what) & EV_WRITE != 0 {
                    flush()
                } else {
                    end(Int32(what) & LoopEvent.failed != 0 ? .failed(Stream.unwatched) : .peerReadsNothing)
                }
            }
        }
        writeEvent?.add(milliseconds: sendMilliseconds)
    }

    // MARK: Ending

    /// Sends what waits, then ends. Nothing is read or written any more, and the handler hears nothing more.
    package func closeWhenFlushed() {
        guard isOpen, !closesWhenFlushed else { return }
        pauseReading()
        handler = nil
        closesWhenFlushed = true
        lingerEnd = EventLoop.now + Stream.longestFarewell
        Stream.lingering[ObjectIdentifier(self)] = self
        flushAtEndOfTurn()
    }

    /// The number of the socket, which stays the stream's; `nil`: it has ended.
    package var number: CInt? { isOpen ? descriptor.number : nil }

    /// Makes a stream of a connected socket that this process was handed.
    package convenience init(inheriting descriptor: consuming Descriptor) { self.init(descriptor) }

    /// Ends the stream, and leaves the connection open for another owner.
    package func handOn() -> Descriptor? {
        guard isOpen, unsentBytes == 0, let copy = Descriptor(copying: descriptor.number) else { return nil }
        isOpen = false
        handler = nil
        readEvent.remove()
        writeEvent?.remove()
        endEvent?.remove()
        return copy
    }

    /// Ends the stream, of which nothing has been read, and leaves the connection for the successor's listener.
    ///
    /// - Parameter circuit: What tor has said of it before its first byte.
    /// - Returns: Whether it is left; if not, the stream goes on.
    package func handOn(circuit: UInt32?) -> Bool {
        guard isOpen, Handover.shared.findsClient(descriptor.number), let copy = handOn() else {
            return false
        }
        Handover.shared.keep(client: copy, circuit: circuit)
        return true
    }

    /// Closes the stream at once; what waits to be sent is dropped.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        handler = nil
        readEvent.remove()
        writeEvent?.remove()
        endEvent?.remove()
        output = []
        sentCount = 0
        shutdown(descriptor.number, CInt(SHUT_RDWR))
        Stream.lingering[ObjectIdentifier(self)] = nil
    }

    /// Tells the peer that all is sent, and throws away what it still sends, for 2 s at most. To close with
    /// unread bytes would reset the connection, and the peer could lose our last words.
    private func finishSending() {
        shutdown(descriptor.number, CInt(SHUT_WR))
        readEvent = LoopEvent(descriptor: descriptor.number, events: EV_READ | EV_PERSIST) {
            [unowned self] what in
            let buffer = Stream.readBuffer
            let isDue = EventLoop.now > lingerEnd
            let count = recv(descriptor.number, buffer.baseAddress, buffer.count, 0)
            if isDue || Int32(what) & EV_READ == 0 || count == 0 || (count < 0 && errno != EAGAIN) { close() }
        }
        lingerEnd = EventLoop.now + .seconds(2)
        readEvent.add(timeout: .seconds(2))
    }

    private var lingerEnd: MonotonicTime = 0
    /// The longest time for all last words together, in nanoseconds.
    private static let longestFarewell = Duration.seconds(30)

    /// Streams whose owners have let go of them and that still have something to send.
    private static var lingering: [ObjectIdentifier: Stream] = [:]

    private func end(_ reason: StreamEnd) {
        let handler = handler
        close()
        handler?.stream(self, ended: reason)
    }
}
