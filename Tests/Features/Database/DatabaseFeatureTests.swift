import Node
import Testing

@testable import DatabaseEndpoint

/// Which settings want the store in a database, in a program that has the feature and in one that has not.
@Suite struct DatabaseFeatureTests {
    private static let with = Features([DatabaseFeature.self], leftOut: [])
    private static let without = Features(
        [], leftOut: [.init("database", section: "storage", keys: ["url", "password_file"])])

    private static func settings(
        _ storage: String, environment: [String: String] = [:], _ features: Features
    ) throws(SettingsError) -> Settings {
        try Settings(
            yaml: "state_directory: /a\nstorage: \(storage)\n", file: "x", environment: environment,
            features: features)
    }

    private static func faults(
        _ storage: String, environment: [String: String] = [:], _ features: Features
    ) -> [String] {
        do throws(SettingsError) {
            _ = try settings(storage, environment: environment, features)
            return []
        } catch {
            return error.faults.map { "\($0)" }
        }
    }

    @Test func theStoreIsAFileUnlessAnAddressIsSet() throws {
        for features in [Self.with, Self.without] {
            let settings = try Self.settings("{write_behind: 0.5}", features)
            #expect(settings.isStoreFile && settings.writeBehind == .milliseconds(500))
            #expect(try settings.store().file == "/a/outbox.sqlite")
        }
        let settings = try Self.settings("{url: postgresql:///a, password_file: /b}", Self.with)
        #expect(!settings.isStoreFile && settings.feature(DatabaseFeature.self)?.passwordFile == "/b")
    }

    /// Whoever reads the configuration would see it: it is not shown again.
    @Test func aPasswordInTheAddressIsRefused() {
        let faults = Self.faults("{url: \"postgresql://a:secret@host/b\"}", Self.with)
        #expect(
            faults == [
                "line 2: storage.url: must be empty, or postgresql://USER@HOST:PORT/DATABASE without a password"
            ])
    }

    @Test func aProgramWithoutItRefusesItsSettingsByTheNameWhereverTheyStand() {
        let words = "this onionbelld was built without database"
        #expect(
            Self.faults("{write_behind: 0, url: \"\", password_file: a}", Self.without)
                == ["line 2: storage.url: \(words)", "line 2: storage.password_file: \(words)"])
        #expect(
            Self.faults("{}", environment: ["ONIONBELL_STORAGE_URL": "postgresql:///a"], Self.without)
                == ["ONIONBELL_STORAGE_URL: \(words)"])
        // Another key of the section is as wrong as ever.
        #expect(Self.faults("{urls: a}", Self.without).map { $0.contains("unknown key") } == [true])
    }
}
