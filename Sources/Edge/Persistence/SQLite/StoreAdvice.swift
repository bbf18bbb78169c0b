/// The advice about the files of a store. The first step is always one that loses nothing; no step deletes a file. A log is
/// parted from its file only where it is known to be another's, and then it is kept.
package enum StoreAdvice {
    /// Returns the advice about files that somebody has written into while the node ran.
    static func writtenOver(_ path: String) -> String {
        "First restart the node: it takes the files if they are sound, and changes nothing if they are not. If it then refuses "
            + "them, \(kept(path)), and put a sound copy there"
    }

    /// Returns the advice about two files of which one is to be the store.
    static func twoFiles(_ path: String, saved: String) -> String {
        "Neither is lost: to go on with what was saved, move \(path) with all that stands beside it under that name "
            + "(-wal, -shm) into another folder; to go on with the other file, move \(saved) there"
    }

    /// Returns the advice about a log that is another file's, or does not fit the file that it lies beside.
    static func logOfAnother(_ path: String, run: String) -> String {
        """
        \(path)-wal belongs to another file than the one it lies beside. First \(kept(path)). If \(path) is a copy that was \
        put back, then move \(path)-wal and \(path)-shm there too, and try again. If the log was copied together with it, move \
        \(run) there instead
        """
    }

    /// Returns the advice about a damaged file.
    package static func damaged(_ path: String) -> String {
        """
        First \(kept(path)). Then put a copy from before there, or save what is readable of it: sqlite3 COPY .recover \
        (WhenThingsBreak.md, The outbox)
        """
    }

    /// Returns the advice about a store of a format that this program does not know.
    static func otherFormat(isNewer: Bool) -> String {
        (isNewer
            ? "Install the newer one again; or put back a copy from before the upgrade"
            : "Start that one until nothing waits")
            + ". To begin empty, keep the file in another folder, together with its -wal and -shm: what waits in it is then not delivered"
    }

    /// Returns a remark about a file that a killed node has left with its log.
    static func logLeft(_ path: String) -> String {
        "read with \(path)-wal, which a node leaves that is killed: what is in it belongs to the file, and the next start takes it"
    }

    private static func kept(_ path: String) -> String {
        "stop the node and copy \(path), \(path)-wal and \(path)-shm together into another folder"
    }
}
