/// A binary heap: the least element first.
struct Heap<Element: Comparable & Sendable>: Sendable {
    private var elements: [Element] = []

    var isEmpty: Bool { elements.isEmpty }
    var count: Int { elements.count }
    var first: Element? { elements.first }
    /// The elements, in no order.
    var all: [Element] { elements }

    mutating func insert(_ element: Element) {
        elements.append(element)
        var child = elements.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard elements[child] < elements[parent] else { return }
            elements.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes all elements but those that are kept, in time linear but for a sort.
    mutating func keep(where isKept: (Element) -> Bool) {
        // What is sorted is a heap.
        elements = elements.filter(isKept).sorted()
    }

    mutating func removeFirst() -> Element {
        elements.swapAt(0, elements.count - 1)
        let first = elements.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in 2 * parent + 1..<2 * parent + 3
            where child < elements.count && elements[child] < elements[least] { least = child }
            guard least != parent else { return first }
            elements.swapAt(parent, least)
            parent = least
        }
    }
}
