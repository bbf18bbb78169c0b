// swift-tools-version: 6.2
import PackageDescription

/// Every target: no warning survives. A crash names file and line; variables for a debugger would take a sixth of the build:
/// `swift build -Xswiftc -g` has them.
let checked: [SwiftSetting] = [
    .treatAllWarnings(as: .error), .unsafeFlags(["-gline-tables-only"], .when(configuration: .debug)),
]
/// Targets without I/O, clock or C: unsafe code needs the word `unsafe`, and there is none.
let pure: [SwiftSetting] = checked + [.strictMemorySafety()]

/// The node as it is installed: nothing looks into it for symbols, nothing in it unwinds its own stack (whose tables, an
/// eighth of it, only a debugger would read: the debug build has them), and packed relocations (glibc 2.36, as Debian 12 has
/// it) take a tenth of their room. What runs at rest lies side by side: see `Deploy/tools/order`.
let small: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-Xlinker", "--no-export-dynamic", "-Xlinker", "--no-eh-frame-hdr",
            "-Xlinker", "-O2", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs",
            "-Xlinker", "--symbol-ordering-file=\(Context.packageDirectory)/Deploy/tools/onionbelld.order",
            "-Xlinker", "--no-warn-symbol-ordering",
            "-Xlinker", "-T", "-Xlinker", "\(Context.packageDirectory)/Deploy/tools/onionbelld.ld",
        ], .when(configuration: .release))
]

/// The module's name: the last part of its folder's path, whose first is its room.
func module(_ path: String) -> String { String(path.split(separator: "/").last!) }

/// Each function is a section of its own, so that the linker leaves out what nobody calls.
let apart: [SwiftSetting] = [
    .unsafeFlags(["-Xfrontend", "-function-sections"], .when(configuration: .release))
]

/// What no notification goes through. A generic function that several modules have made is linked from the first of them by
/// name, and small ones are slow: `Client`, before `HTTP1`, is none of these.
let cold: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

let log: Target.Dependency = .product(name: "Logging", package: "swift-log")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

func library(
    _ path: String, named name: String? = nil, pure isPure: Bool = false, cold isCold: Bool = false,
    _ dependencies: [Target.Dependency]
) -> Target {
    .target(
        name: name ?? module(path), dependencies: dependencies, path: "Sources/\(path)",
        exclude: path == "Core/Wire" ? ["onionbell.proto"] : [],
        swiftSettings: (isPure ? pure : checked) + apart + (isCold ? cold : []))
}

/// A room of `Sources/Features`: it uses the node and what is below it, and no other feature.
func feature(
    _ path: String, named name: String? = nil, cold isCold: Bool = false, _ dependencies: [Target.Dependency]
) -> Target {
    library(
        "Features/\(path)", named: name, cold: isCold,
        dependencies + [
            "Clocks", "Crypto", "Dispatching", "Doors", "Encodings", "HTTP1", "Node", "Reactor", "Relay",
        ]
    )
}

/// The commands of a feature, beside its endpoint: the node links no parser of arguments.
func commands(of feature: String, in endpoint: String? = nil, _ dependencies: [Target.Dependency]) -> Target {
    library(
        "Features/\(feature)/Commands", named: "\(feature)Commands", cold: true,
        dependencies + [.init(stringLiteral: endpoint ?? feature), "Terminal", arguments])
}

func tests(_ name: String, in folder: String = "Tests", _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: dependencies, path: "\(folder)/\(name)", swiftSettings: checked)
}

func system(_ name: String, pkgConfig: String, apt package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

/// The traits, each the name of a feature's room, with those that it can't do without: its commands make the owner's calls.
let features = [
    "Bitwarden": ["Owner"], "Database": [], "Gorush": [], "Mailbox": ["Owner"], "Owner": [],
    "PhonePage": ["Owner"],
    "StatusIM": [],
    "WebPushIn": [],
]

let package = Package(
    name: "onionbell",
    products: [
        .executable(name: "onionbelld", targets: ["Onionbelld"]),
        .executable(name: "onionbell", targets: ["Onionbell"]),
        .executable(name: "onionbell-lab", targets: ["OnionbellLab"]),
        .executable(name: "onionbell-chaos", targets: ["Chaos"]),
    ],
    // What a node can be built without: `swift build --disable-default-traits` makes the smallest one.
    traits: Set(
        features.map { .trait(name: $0.key, enabledTraits: Set($0.value)) }
            + [.default(enabledTraits: Set(features.keys))]),
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        // Only for the benchmark.
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
    ],
    targets: [
        system("CEvent", pkgConfig: "libevent_core", apt: "libevent-dev"),
        system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev"),
        system("CNGHTTP2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev"),
        system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
        system("CYAML", pkgConfig: "yaml-0.1", apt: "libyaml-dev"),
        system("CQREncode", pkgConfig: "libqrencode", apt: "libqrencode-dev"),
        system("CSecp256k1", pkgConfig: "libsecp256k1", apt: "libsecp256k1-dev"),
        .target(name: "CSupport", path: "Sources/C/CSupport"),
        // Needs libpq's header to be built, and libpq itself when a database is asked for: dlopen finds it then.
        .target(name: "CPostgreSQL", path: "Sources/C/CPostgreSQL"),

        library("Core/Wire", pure: true, ["Clocks", "Encodings"]),
        library("Base/Encodings", pure: true, []),
        library("Base/Clocks", pure: true, []),
        library(
            "Core/Relay", pure: true,
            [
                "Clocks", "Encodings",
            ]),
        library("Core/Figures", pure: true, ["Clocks"]),
        library("Core/Overview", pure: true, cold: true, ["Clocks", "Figures", "Relay", "JSONCoding"]),
        library(
            "Base/JSONCoding", pure: true,
            [
                "Encodings"
            ]),
        library(
            "Base/HTTP1", pure: true,
            [
                "Encodings"
            ]),
        library("Core/Pointing", pure: true, cold: true, []),
        library("Base/YAML", cold: true, ["CYAML"]),
        library("Base/Reactor", ["CEvent", "Clocks", "CSupport"]),
        library("Base/Crypto", ["COpenSSL", "CSecp256k1"]),
        library("Base/QR", cold: true, ["CQREncode"]),
        library("Base/TLS", ["COpenSSL"]),
        library("Base/HTTP2", ["CNGHTTP2"]),
        library("Edge/Outbound", ["Relay", "Figures", "Reactor"]),
        library(
            "Edge/Dispatching",
            ["Clocks", "Encodings", "JSONCoding", "Outbound", "Relay", "Figures", "Reactor", "Crypto", log]),
        library(
            "Edge/Persistence",
            [
                "Clocks", "Crypto", "Encodings", "Reactor", "Relay", "CSQLite",
            ]),
        library(
            "Edge/Gateways",
            [
                "Clocks", "Encodings", "Outbound", "Relay", "Figures", "Reactor", "Crypto", "TLS",
                "JSONCoding",
                "HTTP1", "HTTP2", "Wire", log,
            ]),
        library(
            "Edge/Tor", cold: true,
            [
                "Clocks", "Encodings", "Reactor", "Crypto", log,
            ]),
        library(
            "Edge/Doors",
            [
                "Clocks", "Figures", "Encodings", "Wire", "Relay", "Dispatching", "Persistence",
                "Reactor",
                "Crypto",
                "JSONCoding", "HTTP1", "TLS", "Overview", log,
            ]),
        library(
            "Client",
            [
                "Clocks", "Encodings", "Wire", "Reactor", "Crypto", "JSONCoding", "HTTP1", "TLS",
            ]),
        library("Base/Processes", cold: true, ["Reactor"]),
        // Compiled by Deploy/install under another name; here only for its tests.
        library("Base/SmallFoundation", pure: true, []),
        library(
            "Node", cold: true,
            [
                "Clocks", "Encodings", "Wire", "Relay", "Reactor", "Crypto", "TLS", "HTTP2", "Dispatching",
                "Outbound",
                "Persistence",
                "Gateways", "Tor", "Doors", "Client", "HTTP1", "JSONCoding", "Figures", "Overview",
                "QR", "YAML",
                "Processes", log,
            ]),
        // What features share, and Bisq's way has no use for.
        library("Features/PushEndpoints", ["Doors", "Encodings", "Gateways", "Node", "Relay"]),
        library(
            "Features/Calls/Endpoint", named: "Calls",
            [
                "Doors", "Encodings", "HTTP1", "JSONCoding", "Node", "Overview", "Persistence", "Pointing",
                "Processes",
                "Reactor", "Tor", log,
            ]),
        commands(of: "Calls", ["Client", "Encodings", "HTTP1", "JSONCoding", "Node", "Processes"]),
        feature(
            "Owner/Endpoint", named: "Owner", cold: true,
            [
                "Calls", "Client", "Figures", "Gateways", "JSONCoding", "Overview", "Persistence", "Pointing",
                "Processes", "Tor", "Wire", "YAML", log,
            ]),
        commands(
            of: "Owner",
            [
                "CallsCommands", "Client", "Crypto", "Encodings", "HTTP1", "JSONCoding", "Node",
                "Persistence",
                "Pointing", "Processes", "QR", "Reactor", "Relay", "Tor", "Wire",
            ]),
        library(
            "Features/Database/PostgreSQL", named: "PostgreSQL", cold: true, ["CPostgreSQL", "Crypto"]),
        // One node keeps its store in a database as several do that share it: there is no engine without sharing.
        feature(
            "Database/Endpoint", named: "DatabaseEndpoint", ["Persistence", "PostgreSQL", "Processes"]),
        commands(
            of: "Database", in: "DatabaseEndpoint",
            [
                "Crypto", "Encodings", "Gateways", "JSONCoding", "Node", "Overview", "Persistence",
                "PostgreSQL",
                "Processes", "Reactor",
            ]),
        feature("Gorush", ["JSONCoding", "PushEndpoints"]),
        feature("WebPushIn", ["JSONCoding", "PushEndpoints"]),
        feature("PhonePage/Endpoint", named: "PhonePage", ["Gateways", "Processes", "Tor"]),
        commands(of: "PhonePage", ["CallsCommands", "JSONCoding", "Node", "Processes", "QR"]),
        commands(
            of: "Bitwarden", ["CallsCommands", "Doors", "Encodings", "JSONCoding", "Node", "Processes"]),
        library("Features/StatusIM/Messages", named: "StatusIM", pure: true, ["Encodings", "Wire"]),
        feature(
            "StatusIM/Endpoint", named: "StatusIMEndpoint",
            ["JSONCoding", "Overview", "Persistence", "PushEndpoints", "StatusIM", "Tor", "Wire", log]),
        feature(
            "Bitwarden/Endpoint", named: "Bitwarden",
            ["Calls", "JSONCoding", "Persistence", "PushEndpoints", log]),
        // The other side of a mailbox: its reader, and Bisq's agent that hears the phone's replies.
        library(
            "Features/Mailbox/Client", named: "MailboxClients",
            ["Client", "Clocks", "Crypto", "Encodings", "HTTP1", "JSONCoding", "Reactor", "Wire"]),
        feature(
            "Mailbox/Endpoint", named: "MailboxEndpoint",
            [
                "Calls", "Client", "Figures", "Gateways", "JSONCoding", "Outbound", "Overview", "Persistence",
                "Pointing",
                "Processes", "Wire", log,
            ]),
        commands(
            of: "Mailbox", in: "MailboxEndpoint",
            [
                "CallsCommands", "Client", "Crypto", "Doors", "Encodings", "HTTP1", "JSONCoding",
                "MailboxClients", "Node",
                "Pointing",
                "Processes", "QR", "Reactor", "Relay", "Tor", "Wire",
            ]),
        library(
            "Features/FeatureList", cold: true,
            [
                "Node", .target(name: "Bitwarden", condition: .when(traits: ["Bitwarden"])),
                .target(name: "DatabaseEndpoint", condition: .when(traits: ["Database"])),
                .target(name: "Gorush", condition: .when(traits: ["Gorush"])),
                .target(name: "MailboxEndpoint", condition: .when(traits: ["Mailbox"])),
                .target(name: "Owner", condition: .when(traits: ["Owner"])),
                .target(name: "PhonePage", condition: .when(traits: ["PhonePage"])),
                .target(name: "StatusIMEndpoint", condition: .when(traits: ["StatusIM"])),
                .target(name: "WebPushIn", condition: .when(traits: ["WebPushIn"])),
            ]),
        .executableTarget(
            name: "Onionbelld", dependencies: ["FeatureList", "Node", "Processes", "Reactor"],
            path: "Sources/Programs/Onionbelld",
            swiftSettings: checked,
            linkerSettings: small),
        // What commands share.
        library(
            "Programs/Terminal", cold: true,
            [
                "Client", "Clocks", "Crypto", "Doors", "Encodings", "FeatureList", "HTTP1", "JSONCoding",
                "Node",
                "Processes", "Reactor", "Tor", "Wire", arguments,
            ]),
        .executableTarget(
            name: "Onionbell",
            dependencies: [
                "Clocks",
                "Encodings", "FeatureList", "Terminal",
                .target(name: "BitwardenCommands", condition: .when(traits: ["Bitwarden"])),
                .target(name: "DatabaseCommands", condition: .when(traits: ["Database"])),
                .target(name: "MailboxCommands", condition: .when(traits: ["Mailbox"])),
                .target(name: "OwnerCommands", condition: .when(traits: ["Owner"])),
                .target(name: "PhonePage", condition: .when(traits: ["PhonePage"])),
                .target(name: "PhonePageCommands", condition: .when(traits: ["PhonePage"])), "Node", "Client",
                "Wire", "Relay", "Reactor", "Crypto", "Persistence",
                "Gateways", "Tor", "Doors", "HTTP1", "JSONCoding", "Overview", "QR", "Processes", arguments,
                log,
            ],
            path: "Sources/Programs/Onionbell", swiftSettings: checked),

        library(
            "Lab",
            [
                "Clocks",
                "Encodings", "Client", "Processes", "Wire", "StatusIM", "Relay", "Reactor", "Crypto", "TLS",
                "JSONCoding", "HTTP1", "HTTP2", "Tor",
            ]),
        .executableTarget(
            name: "OnionbellLab",
            dependencies: [
                "Clocks", "Lab", "Client", "Wire", "Reactor", "Crypto", "TLS", "Tor", "JSONCoding", "QR",
                "Processes",
                "Pointing", arguments,
            ],
            path: "Sources/Programs/OnionbellLab", swiftSettings: checked),

        .executableTarget(
            name: "onionbell-bench",
            dependencies: [
                "Clocks", "Encodings", "Lab", "LabParts", "Client", "Wire", "Reactor", "Crypto", "Relay",
                "Dispatching",
                "Gateways",
                "HTTP1", "Doors", "MailboxClients", "MailboxEndpoint", "Persistence", "Processes", "Tor",
                arguments,
                log,
                .product(name: "Histogram", package: "hdrhistogram-swift"),
            ],
            path: "Tests/Benchmarks", swiftSettings: checked),

        // Breaks the built program on purpose, and keeps books of what becomes of it: see Deploy/tools/chaos.
        .executableTarget(
            name: "Chaos",
            dependencies: [
                "Encodings", "Lab", "LabParts", "Client", "MailboxClients", "Processes", "Wire", "StatusIM",
                "HTTP1", "Reactor", "Crypto",
                "TLS", "JSONCoding", "Vectors", arguments,
            ],
            path: "Tests/Chaos", swiftSettings: checked),
        .target(
            name: "Vectors",
            dependencies: ["Clocks", "CSupport", "Encodings", "Processes", "Reactor", "Relay", "Wire"],
            path: "Tests/Vectors",
            exclude: [
                "bisq-vectors.json", "seed-systems-vectors.json", "web-push-vectors.json",
                "reply-vectors.json", "crypto-vectors.json", "crypto-vectors.py",
                "reply-vectors.py",
            ],
            swiftSettings: checked),
        // What plays a part in tests only. What the shipped laboratory needs as well is in `Lab`.
        .target(
            name: "LabParts",
            dependencies: [
                "Client", "Crypto", "Encodings", "HTTP1", "HTTP2", "JSONCoding", "Lab", "Reactor", "Relay",
                "StatusIM", "Wire", log,
            ],
            path: "Tests/LabParts", swiftSettings: checked),
        // A third engine of the store, as an example and for tests without a disk.
        .target(
            name: "MemoryStore", dependencies: ["Crypto", "CSQLite", "Persistence"],
            path: "Tests/MemoryStore", swiftSettings: checked),
        // The engines of a store, each in a place of one test.
        .target(
            name: "TestedStores",
            dependencies: [
                "Bitwarden", "Clocks", "Crypto", "DatabaseEndpoint", "MailboxEndpoint", "MemoryStore",
                "Persistence", "PostgreSQL", "Relay", "StatusIMEndpoint", "Vectors",
            ],
            path: "Tests/TestedStores", swiftSettings: checked),
        // Endpoints with everything behind them, down to simulated gateways.
        .target(
            name: "EndpointWorlds",
            dependencies: [
                "Crypto", "Dispatching", "Doors", "Gateways", "Gorush", "HTTP1", "Lab", "Persistence",
                "PushEndpoints", "Reactor", "Relay", "StatusIM", "StatusIMEndpoint", "TLS", "Vectors",
                "WebPushIn", "Wire", log,
            ], path: "Tests/EndpointWorlds", swiftSettings: checked),
        tests("Encodings", ["Encodings", "Vectors"]),
        tests("Wire", ["Clocks", "Encodings", "Wire", "Vectors"]),
        tests("Relay", ["Clocks", "Encodings", "Relay", "Vectors"]),
        tests("Figures", ["Clocks", "Vectors", "Figures"]),
        tests("SmallFoundation", ["SmallFoundation"]),
        tests("Overview", ["Clocks", "Overview", "Figures", "JSONCoding", "QR", "Relay", "Vectors"]),
        tests("QR", ["QR"]),
        tests("Simulation", ["Clocks", "Gateways", "MemoryStore", "Persistence", "Relay", "Vectors"]),
        tests(
            "JSONCoding",
            [
                "Vectors", "JSONCoding",
            ]),
        tests(
            "HTTP1",
            [
                "Vectors", "HTTP1",
            ]),
        tests("YAML", ["YAML"]),
        tests("Pointing", ["Pointing"]),
        tests("Reactor", ["Reactor"]),
        tests(
            "Crypto",
            [
                "Encodings", "Crypto", "Vectors",
            ]),
        tests(
            "TLS",
            [
                "COpenSSL", "TLS", "Crypto",
            ]),
        tests("HTTP2", ["HTTP2"]),
        tests(
            "Dispatching",
            [
                "Clocks",
                "Dispatching", "Outbound", "Relay", "Figures", "Reactor", "Persistence", "Crypto",
                "CSQLite",
                "Vectors",
            ]),
        tests(
            "Persistence",
            [
                "Clocks",
                "Crypto", "CSQLite", "Encodings", "MemoryStore", "PostgreSQL", "Processes", "Reactor",
                "Persistence", "Bitwarden", "DatabaseEndpoint", "MailboxEndpoint", "StatusIMEndpoint",
                "Relay", "TestedStores", "Vectors",
            ]),
        tests(
            "Gateways",
            [
                "Clocks",
                "Encodings", "Gateways", "Outbound", "Relay", "Reactor", "Crypto", "TLS",
                "JSONCoding", "HTTP1", "HTTP2", "Lab", "LabParts", "Client", "Vectors", "Wire",
            ]),
        tests(
            "Tor",
            [
                "Clocks", "Vectors",
                "Encodings", "Tor", "Reactor", "Crypto", "Lab", "LabParts", "Client", "Processes",
            ]),
        tests(
            "Doors",
            [
                "Clocks",
                "Encodings", "Doors", "Wire", "Relay", "Dispatching", "Persistence",
                "Crypto",
                "Reactor",
                "Vectors",
                "HTTP1", "HTTP2", "JSONCoding", "TLS", "Gateways", "Lab", "LabParts", "Client",
                "Bitwarden", "EndpointWorlds", "Gorush", "Owner", "PushEndpoints", "WebPushIn",
            ]),
        tests(
            "Skeleton", in: "Tests/Features",
            [
                "Dispatching", "Doors", "Encodings", "EndpointWorlds", "HTTP1", "JSONCoding", "Lab", "Node",
                "Reactor", "Relay",
            ]),
        tests(
            "Gorush", in: "Tests/Features",
            [
                "Crypto", "Encodings", "EndpointWorlds", "Gorush", "HTTP1", "JSONCoding", "Lab",
                "PushEndpoints",
                "Reactor", "Relay", "Vectors",
            ]),
        tests(
            "WebPushIn", in: "Tests/Features",
            [
                "Clocks", "Doors", "Encodings", "EndpointWorlds", "HTTP1", "JSONCoding", "Lab", "Reactor",
                "Relay",
                "Vectors", "WebPushIn", "Wire",
            ]),
        tests(
            "StatusIM", in: "Tests/Features",
            [
                "Crypto", "Doors", "EndpointWorlds", "HTTP1", "Lab", "LabParts", "Persistence", "Reactor",
                "Relay", "StatusIM", "StatusIMEndpoint", "Vectors", "Wire",
            ]),
        tests(
            "Bitwarden", in: "Tests/Features",
            [
                "Bitwarden", "Client", "Crypto", "Doors", "Encodings", "EndpointWorlds", "HTTP1",
                "JSONCoding", "Lab", "Persistence", "PushEndpoints", "Reactor", "Relay", "Vectors",
            ]),
        tests(
            "Mailbox", in: "Tests/Features",
            [
                "Client", "Clocks", "Crypto", "Dispatching", "Doors", "Encodings", "EndpointWorlds",
                "Gateways",
                "HTTP1", "JSONCoding", "Lab", "LabParts", "MailboxClients", "MailboxEndpoint", "Outbound",
                "Persistence", "Reactor", "Relay", "Vectors", "Wire", log,
            ]),
        tests(
            "Database", in: "Tests/Features",
            [
                "Bitwarden", "Clocks", "Crypto", "DatabaseEndpoint", "MailboxEndpoint", "Node",
                "Persistence", "PostgreSQL", "Reactor", "Relay", "TestedStores", "Vectors",
            ]),
        tests(
            "Owner", in: "Tests/Features",
            [
                "Bitwarden", "Calls", "Clocks", "Crypto", "Doors", "Encodings", "FeatureList", "HTTP1",
                "JSONCoding", "MailboxEndpoint", "Node", "Overview", "Owner", "Persistence", "PhonePage",
                "Reactor", "Relay",
                "Tor", log,
            ]),
        tests(
            "Client",
            [
                "Encodings", "Client", "Wire", "HTTP1", "Crypto", "JSONCoding", "Reactor", "Vectors",
            ]),
        tests(
            "Lab",
            [
                "Encodings", "Lab", "LabParts", "Client", "Wire", "HTTP1", "Crypto", "TLS", "JSONCoding",
                "HTTP2",
                "Reactor",
                "Vectors",
            ]),
        tests(
            "Node",
            [
                "FeatureList", "Bitwarden", "Gorush", "MailboxEndpoint", "PhonePage", "PushEndpoints",
                "StatusIMEndpoint",
                "WebPushIn",
                "Node", "Crypto", "Doors", "Encodings", "Gateways", "HTTP1", "Lab", "LabParts", "Persistence",
                "Reactor", "Tor", "Relay", "Wire", log,
            ]),
        tests(
            "Onionbell",
            [
                "DatabaseCommands", "DatabaseEndpoint", "FeatureList", "MailboxClients", "MailboxCommands",
                "Onionbell", "Terminal",
                "onionbell-bench",
                arguments, "Node", "Gateways",
                "Tor", "Relay",
                "Persistence",
                "Processes", "Vectors", "YAML",
            ]),
        tests(
            "EndToEnd",
            [
                "Encodings", "Onionbelld", "Onionbell", "Pointing", "OnionbellLab", "Chaos", "Lab",
                "LabParts", "Client",
                "Wire", "Crypto", "Reactor", "Tor", "Relay", "Persistence", "JSONCoding", "HTTP1",
                "Vectors", "QR", "StatusIM", "Processes", "MailboxClients", "MailboxCommands",
                "MailboxEndpoint", "Owner",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// `Deploy/test --suites Reactor,TLS` builds no other tests.
if let suites = Context.environment["TEST_SUITES"] {
    let wanted = suites.split(separator: ",").map { "\($0)Tests" }
    package.targets.removeAll { $0.type == .test && !wanted.contains($0.name) }
}
// Files of tests that Deploy/tools/optimized-test leaves out.
if let files = Context.environment["TEST_LEFT_OUT"] {
    for target in package.targets where target.type == .test {
        let folder = "\(target.path ?? "")/"
        target.exclude += files.split(separator: ",").filter { $0.hasPrefix(folder) }.map {
            String($0.dropFirst(folder.count))
        }
    }
}
