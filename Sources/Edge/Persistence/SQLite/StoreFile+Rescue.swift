import Glibc

/// The rescue of a store whose file is not at its path any more: all of it is written anew.
///
/// SQLite still has the files open, whatever was done to their names, so nothing of them is lost as long as the node runs.
extension StoreFile {
    /// Looks for the file, and writes it anew where it is gone.
    func look() -> StoreStanding {
        if isRestored { return .anew(reason: "\(path) was written anew") }
        switch standing() {
        case .inPlace: return .inPlace
        case .writtenOver:
            // Its end does not mix the two.
            connection.keepLog()
            return .lost(
                reason: "\(path) or its log was written over while the node ran: nothing more is stored. "
                    + StoreAdvice.writtenOver(path))
        case .missing:
            let what = "\(path) was deleted or moved while the node ran"
            do throws(StoreError) {
                // It may have been saved before, when something else stood there.
                try save()
                try StoreFile.restore(path)
                isRestored = true
                return .anew(
                    reason: "\(what): it was written there anew, and the node goes on by itself")
            } catch {
                return .lost(
                    reason:
                        "\(what), and can't be written anew. Only the node has it: mend that before you stop it. "
                        + "\(error)")
            }
        case .replaced:
            let what = "another file stands at \(path) than the node has open: nothing more is stored"
            do throws(StoreError) {
                if !isSaved { try save() }
                return .lost(
                    reason:
                        "\(what). What the node holds is in \(StoreFile.saved(path)). Stop the node. "
                        + StoreAdvice.twoFiles(path, saved: StoreFile.saved(path)))
            } catch {
                return .lost(
                    reason:
                        "\(what), and what the node holds can't be saved. Only the node has it: mend that before you "
                        + "stop it. \(error)")
            }
        }
    }

    /// Writes all that the open files hold beside them.
    private func save() throws(StoreError) {
        // Its log would be deleted by name with the last connection, and another file has that name.
        connection.keepLog()
        let unfinished = path + ".saving"
        unlink(unfinished)
        let descriptor = Glibc.open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreFile.failure("make \(unfinished)") }
        close(descriptor)
        let quoted = unfinished.split(separator: "'", omittingEmptySubsequences: false).joined(
            separator: "''")
        try connection.execute("VACUUM INTO '\(quoted)'")
        try StoreFile.settle(unfinished)
        guard rename(unfinished, StoreFile.saved(path)) == 0 else {
            throw StoreFile.failure("rename \(unfinished)")
        }
        try StoreFile.settle(directoryOf: path)
        isSaved = true
    }
}
