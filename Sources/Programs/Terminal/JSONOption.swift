import ArgumentParser

/// `--json` of commands that list something.
package struct JSONOption: ParsableArguments {
    package init() {}

    @Flag(help: "As JSON, for scripts.")
    package var json = false
}
