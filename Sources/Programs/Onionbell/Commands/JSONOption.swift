import ArgumentParser

/// `--json` of commands that list something.
struct JSONOption: ParsableArguments {
    @Flag(help: "As JSON, for scripts.")
    var json = false
}
