import CSupport

/// The limits and the memory of the process.
package enum ThisProcess {
    /// Raises the limit of open files as far as it goes.
    ///
    /// - Returns: The limit that holds now; -1: it is not known.
    @discardableResult
    package static func raiseFileLimit() -> Int { onionbell_raise_file_limit() }

    /// Makes the process leave no core dump; no other process of the user may trace it.
    package static func disableCoreDumps() { onionbell_disable_core_dumps() }

    /// Lets all threads allocate from one heap; called before there is a second thread.
    package static func shareHeap() { onionbell_share_heap() }

    /// Gives back what only the start needed: pages of code, and free memory of the heap.
    package static func releaseUnusedMemory() { onionbell_release_unused_memory() }

    /// Gives back the free memory of the heap, which takes milliseconds of the thread.
    package static func trimHeap() { onionbell_trim_heap() }

    /// The bytes of the heap that are in use.
    package static var usedHeap: Int { onionbell_used_heap() }
}
