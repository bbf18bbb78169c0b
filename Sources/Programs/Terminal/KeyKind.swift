import ArgumentParser

/// Which of the node's two keys.
package struct KeyKind: ParsableArguments {
    @Flag(help: "The VAPID key, by which push services of browsers know the node.")
    package var vapid = false

    package init() {}
}
