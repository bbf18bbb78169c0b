import Testing
import Vectors

@testable import Relay

@Suite struct HeapTests {
    @Test(arguments: 0..<40)
    func theLeastComesFirst(seed: Int) {
        var random = SeededRandom(state: UInt64(seed))
        var heap = Heap<Int>()
        var model: [Int] = []
        for _ in 0..<400 {
            if !model.isEmpty, Int.random(in: 0..<3, using: &random) == 0 {
                #expect(heap.first == model.first)
                #expect(heap.removeFirst() == model.removeFirst())
            } else {
                let number = Int.random(in: 0..<50, using: &random)
                heap.insert(number)
                model.insert(number, at: model.firstIndex { $0 > number } ?? model.count)
            }
            if Int.random(in: 0..<50, using: &random) == 0 {
                heap.keep { $0 % 3 != 0 }
                model.removeAll { $0 % 3 == 0 }
            }
            #expect(heap.count == model.count)
        }
        while !heap.isEmpty { #expect(heap.removeFirst() == model.removeFirst()) }
        #expect(model.isEmpty)
    }
}
