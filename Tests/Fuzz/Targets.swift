// What is fuzzed, by the name that Deploy/tools/fuzz takes. A new target is a line here; what it tests of modules with C is one
// of `sources` in Deploy/tools/fuzz.
import Glibc

private let targets: [(name: String, run: ([UInt8]) -> Void)] = [
    ("frame", fuzzFrame),
    ("text", fuzzText),
    ("http", fuzzHTTP),
    ("proxy", fuzzProxy),
    ("control", fuzzControl),
    ("tor", fuzzTor),
    ("json", fuzzJSON),
    ("status", fuzzStatusIM),
    ("gorush", fuzzGorush),
    ("relay", fuzzRelay),
    ("webpush", fuzzWebPush),
    ("pushtoken", fuzzPushToken),
    ("upstream", fuzzUpstream),
    ("register", fuzzRegister),
    ("mailbox", fuzzMailbox),
    ("reader", fuzzReader),
    ("bitwarden", fuzzBitwarden),
]

/// The one that FUZZ_TARGET names.
let fuzz: ([UInt8]) -> Void = {
    let wanted = getenv("FUZZ_TARGET").map { String(cString: $0) }
    guard let target = targets.first(where: { $0.name == wanted }) else {
        fatalError("FUZZ_TARGET names none")
    }
    return target.run
}()
