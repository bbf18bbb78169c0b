import Crypto
import Encodings
import Glibc
import Processes
import Reactor
import YAML

/// The settings to which a start goes back when it fails with others that the console has written. Two files of the state
/// directory: a copy of the text with which the node last came to run, and a note of what the console wrote last.
///
/// A text that somebody else put into the settings' file ends a node that can't start with it: its author is at the machine.
package struct KeptSettings {
    /// The text with which the node last came to run.
    let text: String
    /// Whether a start with the console's text has begun, and came to no end: it was killed, or has crashed.
    let hasCrashed: Bool
    private let stateDirectory: String
    private let note: Note

    /// Returns the file of the text with which the node last came to run.
    static func copy(in stateDirectory: String) -> String { stateDirectory + "/settings-that-ran" }
    /// Returns the file of the note.
    static func note(in stateDirectory: String) -> String { stateDirectory + "/settings-written" }

    /// The console's last text, by its digest, and what became of it.
    struct Note: Equatable {
        let digest: [UInt8]
        var isTried: Bool

        init(of text: String, isTried: Bool = false) {
            digest = Hash.sha256(Array(text.utf8))
            self.isTried = isTried
        }

        init?(_ bytes: [UInt8]) {
            let words = bytes.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
            guard let word = words.first,
                let digest = Hex.decode(String(decoding: word, as: UTF8.self)), digest.count == 32
            else { return nil }
            self.digest = digest
            isTried = words.dropFirst().first?.elementsEqual("tried".utf8) == true
        }

        var line: String { Hex.encode(digest) + (isTried ? " tried\n" : "\n") }

        func isOf(_ text: String) -> Bool { digest == Note(of: text).digest }
    }

    /// Finds what a start with a settings file can go back to.
    ///
    /// - Returns: `nil`: nothing. The text in the file is not the console's, or the node has run with it.
    init?(for configuration: String, environment: [String: String], features: Features) {
        guard let text = try? SettingsText.read(configuration),
            let directory = Settings.stateDirectory(
                in: text, directory: absoluteDirectory(of: configuration), environment: environment,
                features: features),
            let note = (try? PrivateFile.read(KeptSettings.note(in: directory), limit: 128)).flatMap(
                Note.init),
            note.isOf(text),
            let copy = try? SettingsText.read(KeptSettings.copy(in: directory)), !copy.hasSameBytes(as: text)
        else { return nil }
        (self.text, self.note, stateDirectory, hasCrashed) = (copy, note, directory, note.isTried)
    }

    /// Notes that a start with the console's text begins. If it comes to no end, the next one goes back at once.
    func begin() { write(isTried: true) }

    /// Notes that the start came to an end, so that the next one may try again. A start that succeeded has taken the note
    /// away.
    func end() {
        guard access(KeptSettings.note(in: stateDirectory), F_OK) == 0 else { return }
        write(isTried: false)
    }

    private func write(isTried: Bool) {
        var note = note
        note.isTried = isTried
        // Without it a crash is not noticed, and the next start is as this one.
        try? PrivateFile.write(note.line, to: KeptSettings.note(in: stateDirectory), replacing: true)
    }

    /// Notes that the console is about to write a text into the settings' file.
    package static func willWrite(_ text: String, in stateDirectory: String) throws(SystemError) {
        try PrivateFile.write(Note(of: text).line, to: note(in: stateDirectory), replacing: true)
    }

    /// Keeps the text with which the node has come to run.
    ///
    /// - Parameter isOfFile: whether it is the text of the settings' file.
    /// - Returns: Why it is not kept; `nil`: it is.
    @FileThread
    static func keep(_ text: String, isOfFile: Bool, in stateDirectory: String) -> SystemError? {
        let copy = copy(in: stateDirectory)
        do throws(SystemError) {
            if (try? SettingsText.read(copy)).map({ $0.hasSameBytes(as: text) }) != true {
                try PrivateFile.write(text, to: copy, replacing: true)
            }
            let note = note(in: stateDirectory)
            if isOfFile, access(note, F_OK) == 0 { try PrivateFile.remove(note) }
            return nil
        } catch {
            return error
        }
    }
}

extension Settings {
    /// Returns the state directory that a text names, whatever else is wrong with it; `nil`: it is no YAML.
    fileprivate static func stateDirectory(
        in text: String, directory: String, environment: [String: String], features: Features
    ) -> String? {
        let tree: YAMLNode?
        do throws(SettingsFault) {
            tree = try SettingsText.parse(text)
        } catch {
            return nil
        }
        let reader = SettingsReader(environment: environment, directory: directory, features: features)
        return Settings(SettingsReader.Section(reader, node: tree)).stateDirectory
    }
}
