import FeatureList
import Foundation
import Gateways
import Testing

@testable import Node

/// `Deploy/onionbell.yaml`, the sample that operators begin with.
@Suite struct SettingsSampleTests {
    static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Deploy/onionbell.yaml").standardized.path
    private let text: String

    init() throws { text = try SettingsText.read(Self.file) }

    /// With the settings that are off turned on, except those of which `isLeftOut` is true.
    private func uncommented(except isLeftOut: (Substring) -> Bool = { _ in false }) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard let sign = line.firstIndex(where: { $0 != " " }), line[sign] == "#" else {
                return String(line)
            }
            let rest = line[line.index(after: sign)...]
            guard let first = rest.first, first != " ", !isLeftOut(rest) else { return String(line) }
            return String(line[..<sign] + rest)
        }.joined(separator: "\n")
    }

    @Test func itIsTakenAsItIs() throws {
        let settings = try Settings(file: Self.file, environment: [:], features: .built)
        #expect(settings.apps.map(\.name) == ["bisq-remote-ios", "bisq-remote-android"])
        #expect(settings.defaultIOS == "bisq-remote-ios")
        #expect(settings.defaultAndroid == "bisq-remote-android")
    }

    @Test func itsValuesAreTheDefaults() throws {
        var defaults = try Settings(yaml: "", file: Self.file, features: .built)
        var settings = try Settings(file: Self.file, environment: [:], features: .built)
        let apns = try #require(settings.apps[0].settings as? APNsApp)
        let fcm = try #require(settings.apps[1].settings as? FCMApp)
        var defaultAPNs = APNsApp()
        defaultAPNs.bundleID = apns.bundleID
        defaults.apps = [
            Settings.App(name: "bisq-remote-ios", settings: defaultAPNs),
            Settings.App(name: "bisq-remote-android", settings: FCMApp()),
        ]
        #expect(!fcm.hasNotificationBlock)
        settings.defaultIOS = ""
        settings.defaultAndroid = ""
        #expect(content(of: settings) == content(of: defaults))
    }

    @Test func itNamesEveryKeyThereIsAndNoOther() throws {
        let reader = SettingsReader(environment: [:], directory: ".", features: .built)
        _ = Settings(SettingsReader.Section(reader, node: try SettingsText.parse(uncommented())))
        func keys(_ all: some Sequence<String>) -> Set<String> {
            Set(all.map { $0.replacing(/\[\d+\]/, with: "[]") })
        }
        let known = keys(reader.settings.filter { $0.kind != .group && $0.kind != .entries }.map(\.key))
        #expect(known.count > 150)
        #expect(known.subtracting(keys(reader.texts.keys)) == [])
        #expect(!reader.faults.contains { $0.problem.contains("unknown key") })
    }

    @Test func itsCredentialsAreTakenWhenTheyAreTurnedOn() throws {
        for other in ["certificate", "key_"] {
            let yaml = uncommented { $0.hasPrefix(other) || other == "key_" && $0.hasPrefix("team_id") }
            #expect(faults(yaml) == [])
        }
    }
}
