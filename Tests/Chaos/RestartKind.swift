import Lab
import Reactor

/// A successor that can't start, or does not live.
struct RestartKind: Sendable {
    let name: String
    /// Whether the node ends, so that whoever started it has to start it again: a service manager does.
    var isEnd = false
    var modes: Set<RestartsTor.Mode> = [.own, .instance, .system]
    let spoil: @EventLoop @Sendable (RestartPlace) async throws -> Void
    let mend: @EventLoop @Sendable (RestartPlace) async throws -> Void

    static let all: [RestartKind] =
        settings + [
            RestartKind("a credential gone", moved: "AuthKey.p8", by: nil),
            RestartKind("a credential that can't be read", moved: "AuthKey.p8", by: .directory),
            RestartKind("a credential cut short", moved: "AuthKey.p8", by: .text("-----BEGIN")),
            RestartKind(name: "a store of a newer format") {
                try await $0.ask("PRAGMA user_version = 9999")
            } mend: {
                try await $0.ask("PRAGMA user_version = \($0.format)")
            },
            RestartKind("no program", moved: "bin/onionbelld", by: nil),
            RestartKind("a program that is not executable", moved: "bin/onionbelld", by: .text("")),
            RestartKind(
                "a program of an older version", moved: "bin/onionbelld",
                by: .script("echo 'onionbelld: unknown option --check-start'; exit 64")),
            RestartKind("a program for another machine", moved: "bin/onionbelld", by: .foreignProgram),
            RestartKind(
                "a program that crashes when it is asked", moved: "bin/onionbelld",
                by: .script("kill -SEGV $$")),
            RestartKind(
                "a program that hangs when it is asked", moved: "bin/onionbelld",
                by: .script("exec sleep 1000")),
            RestartKind(
                "too few open files", moved: "bin/onionbelld",
                by: .script("ulimit -n 100; exec \"$0.kept\" \"$@\"")),
            RestartKind(name: "a fault that is no fault yet when it is asked") { place in
                try await place.put(
                    .script("[ \"$1\" = --check-start ] || exec \"$0.kept\" \"$@\""), "bin/onionbelld")
                try place.write { place.inUse($0) }
            } mend: { place in
                try place.back("bin/onionbelld")
                try place.write { $0 }
            },
            RestartKind(name: "a crash at start", isEnd: true) { place in
                try LabDirectory.write([], to: place.path + "/crash")
                try await place.put(
                    .script(
                        """
                        if [ "$1" != --check-start ] && [ -e '\(place.path)/crash' ]; then
                            rm '\(place.path)/crash'
                            kill -SEGV $$
                        fi
                        exec "$0.kept" "$@"
                        """), "bin/onionbelld")
            } mend: {
                try $0.back("bin/onionbelld")
            },
        ]

    private static let settings: [RestartKind] = [
        RestartKind("a port in use") { place, text in place.inUse(text) },
        RestartKind("settings that do not parse") { _, text in text + "\n\t- {\n" },
        RestartKind("settings that can't be read", moved: "onionbell.yaml", by: .directory),
        RestartKind("an unknown key") { _, text in text + "\nno_such_key: 1\n" },
        RestartKind("tor's program gone", modes: [.own]) { _, text in
            text.replacing("  mode: own\n", with: "  mode: own\n  binary: /nonexistent/tor\n")
        },
    ]

    init(
        name: String, isEnd: Bool = false,
        spoil: @escaping @EventLoop @Sendable (RestartPlace) async throws -> Void,
        mend: @escaping @EventLoop @Sendable (RestartPlace) async throws -> Void
    ) {
        (self.name, self.isEnd, self.spoil, self.mend) = (name, isEnd, spoil, mend)
    }

    /// Settings by which the node can't start.
    private init(
        _ name: String, modes: Set<RestartsTor.Mode> = [.own, .instance, .system],
        _ change: @escaping @EventLoop @Sendable (RestartPlace, String) -> String
    ) {
        self.init(name: name) { place in
            try place.write { change(place, $0) }
        } mend: {
            try $0.write { $0 }
        }
        self.modes = modes
    }

    /// A file that is another one, or none.
    private init(_ name: String, moved file: String, by other: RestartPlace.Other?) {
        self.init(name: name) {
            try await $0.put(other, file)
        } mend: {
            try $0.back(file)
        }
    }
}
