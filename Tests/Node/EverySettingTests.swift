import FeatureList
import Foundation
import Testing

@testable import Node

/// What holds for every setting, whatever is added: each is tried as its kind tells.
@Suite struct EverySettingTests {
    private let sample: String

    init() throws { sample = try SettingsText.read(SettingsSampleTests.file) }

    /// For the names of apps.
    private static let apps = """
        apps:
          - {name: a, gateway: apns, topic: t}
          - {name: b, gateway: apns, topic: t}
          - {name: c, gateway: fcm}
          - {name: d, gateway: fcm}

        """

    /// Values of settings whose kind doesn't tell what is allowed.
    private static let values = [
        "onion.public_address": [
            "6be5uu6ldm3mim2xiyov2m6owzhdlicfobqho5mbpglzio6qt5etyhid.onion",
            "bisqpushv56wo32w2dv7xacvvcrnow6gud5vkvftwsgevczmspzvqgad.onion",
        ],
        // Never less than work_rate.
        "onion.work_burst": ["2501", "2502"],
        "doors.phone_page.url": ["https://a/", "https://b:1/c/"],
        "doors.mailbox.url": ["http://a", "http://b"],
        "gateways.proxy": ["tor", "socks5://a:1"],
        "storage.url": ["postgresql:///a", "postgresql:///b"],
    ]

    /// Two values for a setting of one value, the second another than the usual one.
    private static func values(of setting: Setting) -> (String, String) {
        let (first, second) = allowed(in: setting)
        return second == setting.usual ? (second, first) : (first, second)
    }

    private static func allowed(in setting: Setting) -> (String, String) {
        if let values = values[setting.key] { return (values[0], values[1]) }
        switch setting.kind {
        case .whole(let range, _): return ("\(range.lowerBound + 1)", "\(range.lowerBound + 2)")
        case .fraction(let range, _): return ("\(range.upperBound / 2)", "\(range.upperBound)")
        case .choice(let choices): return (choices[0], choices[choices.count - 1])
        case .path, .secretFile: return ("/a", "/b")
        case .place: return ("127.0.0.1:1", "127.0.0.1:2")
        case .app(let platform): return platform == .android ? ("c", "d") : ("a", "b")
        case .text, .list, .entries, .group: return ("x-a", "x-b")
        }
    }

    private static func yaml(_ key: String, _ value: String) -> String {
        let parts = key.split(separator: ".")
        let lines = parts.enumerated().map { String(repeating: "  ", count: $0.offset) + "\($0.element):" }
        return lines.joined(separator: "\n") + " \(value)\n"
    }

    @Test func theEnvironmentWinsOverTheFileForEverySingleValueAndEachHasAPlaceOfItsOwn() throws {
        var contents: Set<String> = []
        let all = Setting.all(with: .built).filter { $0.variable != nil }
        for setting in all {
            let (first, second) = Self.values(of: setting)
            let environment = [try #require(setting.variable): second]
            let other = Self.apps + Self.yaml(setting.key, "'\(second)'")
            let changed = content(of: try settings(other))
            contents.insert(changed)
            let file = Self.apps + Self.yaml(setting.key, "'\(first)'")
            #expect(content(of: try settings(file)) != changed, "\(setting.key)")
            #expect(content(of: try settings(file, environment: environment)) == changed, "\(setting.key)")
            #expect(
                content(of: try settings(Self.apps, environment: environment)) == changed, "\(setting.key)")
        }
        #expect(contents.count == all.count && all.count > 100)
        #expect(Set(all.map(\.variable)).count == all.count)
    }

    @Test func theEndsOfARangeAreTakenAndWhatLiesBeyondIsNot() {
        for setting in Setting.all(with: .built) {
            guard case .whole(let range, _) = setting.kind else { continue }
            // Others than these come of what a value means for the next one.
            func refusals(_ value: String) -> [String] {
                faults(Self.yaml(setting.key, value)).filter { $0.contains("is not allowed; ") }
            }
            let (lowest, highest) = (range.lowerBound, range.upperBound)
            for value in [lowest, highest] { #expect(refusals("\(value)") == [], "\(setting.key): \(value)") }
            let line = setting.key.split(separator: ".").count
            for value in [
                "\(lowest - 1)", "\(highest + 1)", "-1", "99999999999999999999", "0x10", "1 000", "\"\"",
            ] {
                let found = refusals(value)
                #expect(
                    found.count == 1 && found[0].hasPrefix("line \(line): \(setting.key): ")
                        && found[0].hasSuffix("from \(lowest) to \(highest)"), "\(value): \(found)")
            }
            #expect(sample.contains("\(lowest) to \(highest)"), "\(setting.key)")
        }
    }

    @Test func theSampleHasTheUsualValueOfEach() throws {
        let reader = SettingsReader(environment: [:], directory: ".", features: .built)
        _ = Settings(SettingsReader.Section(reader, node: try SettingsText.parse(sample)))
        // Of these it has examples.
        for setting in Setting.all(with: .built)
        where setting.variable != nil && !setting.key.hasPrefix("defaults.") {
            #expect(reader.texts[setting.key] == setting.usual, "\(setting.key)")
        }
    }

    /// By what the sample says above it, and by a label and a sentence in each language.
    @Test func everyFieldOfTheConsoleIsExplained() throws {
        let fields = Setting.all(with: .built).filter { $0.traits.contains(.inConsole) }
        #expect(fields.count > 10)
        let languages = URL(filePath: SettingsSampleTests.file)
            .appending(path: "../../Sources/Console/languages").standardized
        let files = try FileManager.default.contentsOfDirectory(atPath: languages.path)
            .filter { $0.hasSuffix("-settings.js") }
        #expect(files.count > 5)
        for field in fields {
            #expect(field.help(in: sample).count > 20, "\(field.key)")
            let name = field.key.replacing(".", with: "_")
            for file in files {
                let text = try String(contentsOf: languages.appending(path: file), encoding: .utf8)
                for word in ["set_\(name):", "about_\(name):"] {
                    #expect(text.contains(word), "\(file): \(word)")
                }
            }
        }
        let heartbeat = Setting.all(with: .built).first { $0.key == "tor.heartbeat" }
        #expect(
            heartbeat?.help(in: sample).hasPrefix("Seconds between two questions to tor, 1 to 300.") == true)
    }
}
