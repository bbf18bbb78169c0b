/// Why there is nothing to measure: a sentence for whoever runs the benchmark.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
