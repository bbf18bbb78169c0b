import Testing
import Wire

@Suite struct MessageStreamTests {
    private static let stream: [UInt8] = [0, 0, 0, 3, 1, 2, 3, 0, 0, 0, 1, 9, 0, 0, 0, 2, 7, 8]

    private func messages(in reads: [ArraySlice<UInt8>], limit: Int = 3) throws(MessageStreamError)
        -> [[UInt8]]
    {
        var stream = MessageStream(maximumLength: limit)
        var found: [[UInt8]] = []
        for read in reads {
            let read = Array(read)
            var position = 0
            while let message = try stream.next(in: read.span, from: &position) { found.append(message) }
            #expect(position == read.count)
        }
        #expect(!stream.isIncomplete)
        return found
    }

    @Test(arguments: 0...stream.count)
    func messagesDoNotDependOnReads(cut: Int) throws {
        let stream = MessageStreamTests.stream
        #expect(try messages(in: [stream[..<cut], stream[cut...]]) == [[1, 2, 3], [9], [7, 8]])
        #expect(try messages(in: stream.indices.map { stream[$0...$0] }) == [[1, 2, 3], [9], [7, 8]])
    }

    @Test func aLengthOverTheLimitIsRefusedBeforeItsBody() throws {
        #expect(throws: MessageStreamError.badLength(4)) { try messages(in: [[0, 0, 0, 4]]) }
        #expect(throws: MessageStreamError.badLength(0)) { try messages(in: [[0, 0, 0, 0]]) }
        #expect(throws: MessageStreamError.badLength(.max)) { try messages(in: [[255, 255, 255, 255]]) }
        #expect(try messages(in: [[0, 0, 0, 3, 1, 2, 3]]) == [[1, 2, 3]])
    }

    @Test func aStreamIsIncompleteFromItsFirstByteToTheLast() throws {
        var stream = MessageStream()
        for byte: UInt8 in [0, 0, 0, 2, 5] {
            var position = 0
            #expect(try stream.next(in: [byte].span, from: &position) == nil)
            #expect(stream.isIncomplete)
        }
        var position = 0
        #expect(try stream.next(in: [6].span, from: &position) == [5, 6])
        #expect(!stream.isIncomplete)
    }

    @Test func thePrefixIsWhatIsRead() throws {
        let message = [UInt8](repeating: 1, count: 70_000)
        #expect(MessageStream.prefix(of: message) == [0, 1, 0x11, 0x70])
        #expect(
            try messages(in: [(MessageStream.prefix(of: message) + message)[...]], limit: 70_000) == [message]
        )
    }
}
