import Foundation
import Glibc
import Testing

@testable import Node

@Suite struct LineSinkTests {
    private func read(_ pipe: Pipe, until end: String) throws -> [String] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while !String(decoding: bytes, as: UTF8.self).contains(end) {
            // Unlike the handle's own, this returns what there is.
            let count = Glibc.read(pipe.fileHandleForReading.fileDescriptor, &part, part.count)
            try #require(count > 0)
            bytes += part[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Nobody reads the pipe, and whoever writes goes on. What does not fit is counted, and all else is there in order.
    @Test func whoeverWritesNeverWaitsForAReader() throws {
        let pipe = Pipe()
        let sink = LineSink(pipe.fileHandleForWriting.fileDescriptor, named: "test") { "lost \($0)\n" }
        let line = String(repeating: "x", count: 1000)
        let written = 2000
        for number in 0..<written { sink.write("\(number) \(line)\n") }
        // The thread hangs in the pipe: this has an end all the same.
        sink.flush()
        var lines = try read(pipe, until: "lost")
        sink.write("end\n")
        lines += try read(pipe, until: "end")
        // It may have found room in between and lost some again.
        let lost = lines.compactMap { $0.hasPrefix("lost ") ? Int($0.dropFirst(5)) : nil }.reduce(0, +)
        let numbers = lines.compactMap { Int($0.prefix { $0 != " " }) }
        #expect(numbers.count + lost == written)
        #expect(numbers == numbers.sorted())
        #expect(lost > 1000)
    }

    @Test func whatWasWrittenIsThereAfterAFlush() throws {
        let pipe = Pipe()
        let sink = LineSink(pipe.fileHandleForWriting.fileDescriptor, named: "test") { "lost \($0)\n" }
        for number in 0..<20 { sink.write("\(number)\n") }
        sink.flush()
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: try #require(try pipe.fileHandleForReading.readToEnd()), as: UTF8.self)
        #expect(text == (0..<20).map { "\($0)\n" }.joined())
    }
}
