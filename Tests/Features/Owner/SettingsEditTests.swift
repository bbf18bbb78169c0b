import Testing

@testable import Node
@testable import Owner

/// Setting one value in a settings file's text.
@Suite struct SettingsEditTests {
    @Test(arguments: [
        // A value that is there, with its comment.
        (
            "tor:\n  mode: own # ours\nlog: {level: info}\n", "tor.mode", "system",
            "tor:\n  mode: system  # ours\nlog: {level: info}\n"
        ),
        // One in braces, in the middle and at the end.
        ("log: {level: info, format: text}\n", "log.level", "debug", "log: {level: debug, format: text}\n"),
        ("log: {format: text, level: info}\n", "log.level", "debug", "log: {format: text, level: debug}\n"),
        // One that is not there yet, in a section that is.
        (
            "# top\ntor:\n  # which\n  binary: tor\n", "tor.mode", "own",
            "# top\ntor:\n  # which\n  binary: tor\n  mode: own\n"
        ),
        ("log: {format: text}\n", "log.level", "debug", "log: {format: text, level: debug}\n"),
        // A section that is not there.
        ("tor: {mode: own}\n", "log.level", "debug", "tor: {mode: own}\nlog:\n  level: debug\n"),
        ("", "log.level", "debug", "log:\n  level: debug\n"),
        ("log:\n", "log.level", "debug", "log:\n  level: debug\n"),
        // An app by its name.
        (
            "apps:\n  - name: a\n    gateway: fcm\n  - name: b\n    gateway: fcm\n", "apps[b].targets",
            "phone_book",
            "apps:\n  - name: a\n    gateway: fcm\n  - name: b\n    targets: phone_book\n    gateway: fcm\n"
        ),
        (
            "apps:\n  - {name: a, gateway: fcm}\n", "apps[a].targets", "phone_book",
            "apps:\n  - {name: a, gateway: fcm, targets: phone_book}\n"
        ),
        // What would be something else without quotes.
        ("log:\n  level: info\n", "log.level", "a: b # c", "log:\n  level: \"a: b # c\"\n"),
        ("log:\n  level: \"a # b\" # c\n", "log.level", "", "log:\n  level: \"\"  # c\n"),
        // One of a section in a section.
        ("", "doors.mailbox.url", "u", "doors:\n  mailbox:\n    url: u\n"),
        (
            "doors:\n  web_push:\n    listen: [a]\nlog: {level: info}\n", "doors.mailbox.url", "u",
            "doors:\n  web_push:\n    listen: [a]\n  mailbox:\n    url: u\nlog: {level: info}\n"
        ),
        (
            "doors: {web_push: {url: a}, mailbox: {rate: 1}}\n", "doors.mailbox.url", "u",
            "doors: {web_push: {url: a}, mailbox: {rate: 1, url: u}}\n"
        ),
        (
            "doors: {web_push: {url: a}, mailbox: {url: [b, c]}}\n", "doors.mailbox.url", "u",
            "doors: {web_push: {url: a}, mailbox: {url: u}}\n"
        ),
        ("doors: {mailbox: {}}\n", "doors.mailbox.url", "u", "doors: {mailbox: {url: u}}\n"),
        ("doors: {}\n", "doors.mailbox.url", "u", "doors: {mailbox: {url: u}}\n"),
        ("doors:\n  mailbox:\n", "doors.mailbox.url", "u", "doors:\n  mailbox:\n    url: u\n"),
    ])
    func oneValueIsSetAndNothingElse(text: String, key: String, value: String, edited: String) throws {
        #expect(try SettingsEdit.set(key, to: value, in: text) == edited)
        #expect(SettingsEdit.value(key, in: edited) == value)
        // Once more: nothing comes twice.
        #expect(SettingsEdit.value(key, in: try SettingsEdit.set(key, to: value, in: edited)) == value)
    }

    @Test(arguments: [
        ("log:\n  level: >\n    info\n", "log.level"), ("log: info\n", "log.level"),
        ("log:\n  level:\n    info\n", "log.level"), ("log: {format: text,\n  x: y}\n", "log.level"),
        ("log: [1]\n", "log.level"), ("a: &x 1\n", "log.level"), ("\t: {", "log.level"),
        ("apps: []\n", "apps[a].targets"), ("apps:\n  - name: a\n", "apps[b].targets"), ("x: y\n", "x"),
        ("a: {b: x}\n", "a.b.c"), ("x: y\n", "apps[.]"), ("x: y\n", "]["), ("x: y\n", ""),
    ])
    func whatCannotBeSetIsLeft(text: String, key: String) {
        #expect(throws: SettingsEdit.Refusal.self) { try SettingsEdit.set(key, to: "info", in: text) }
    }

    @Test(arguments: [
        ("", "apps:\n  - {name: b, gateway: g}\n"),
        ("apps:\nlog: {level: info}\n", "apps:\n  - {name: b, gateway: g}\nlog: {level: info}\n"),
        ("apps: []  # none\n", "apps: [{name: b, gateway: g}]  # none\n"),
        ("apps: [{name: a}]\n", "apps: [{name: a}, {name: b, gateway: g}]\n"),
        (
            "apps:\n# ours\n- name: a\n  gateway: fcm\n",
            "apps:\n# ours\n- name: a\n  gateway: fcm\n- {name: b, gateway: g}\n"
        ),
    ])
    func anAppComesAndGoes(text: String, with: String) throws {
        #expect(try SettingsEdit.addApp([("name", "b"), ("gateway", "g")], to: text) == with)
    }

    @Test(arguments: [
        ("apps:\n  - {name: a, gateway: fcm}\n  - {name: b}\n", "apps:\n  - {name: a, gateway: fcm}\n"),
        (
            "apps:\n  - name: b\n    gateway: x\n    url:\n      - u\n  # a's\n  - name: a\nlog: {}\n",
            "apps:\n  # a's\n  - name: a\nlog: {}\n"
        ),
        ("apps:\n  - name: b\n", "apps:\n"), ("apps: [{name: b}]\nlog: {}\n", "log: {}\n"),
    ])
    func anAppIsTakenOutAndNothingElse(text: String, without: String) throws {
        #expect(try SettingsEdit.removeApp("b", from: text) == without)
    }

    @Test(arguments: [
        "", "apps: []\n", "apps:\n  - name: a\n", "apps: [{name: a}, {name: b}]\n",
        "apps:\n  - {name: b,\n    gateway: x\n    }\n", "apps:\n  -\n    name: b\n", "apps: {name: b}\n",
    ])
    func anAppThatIsWrittenOtherwiseIsLeft(text: String) {
        #expect(throws: SettingsEdit.Refusal.self) { try SettingsEdit.removeApp("b", from: text) }
    }
}
