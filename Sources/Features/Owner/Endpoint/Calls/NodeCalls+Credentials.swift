import Calls
import Crypto
import Doors
import Gateways
import Glibc
import HTTP1
import JSONCoding
import Node
import Reactor

/// The credentials of Apple's and Google's services: looked at, tried at the service, and kept in the state directory.
extension NodeCalls {
    nonisolated static let credentialCalls: [Call] = [
        Call(
            CallText(
                "POST ways/key", "takeKey",
                "Take the credential of Apple's or Google's service, and say what it would do to switch the way on.",
                more: """
                    The service is asked first whether it takes the credential; one that it refuses is not kept. \
                    Nothing is sent by a credential before the settings name it: put the text as the settings with \
                    start: true, and restart the node.
                    """,
                asks: [
                    "way": .choice([WaySwitch.apple.rawValue, WaySwitch.google.rawValue]),
                    "file": .text(WayCredential.longest).said(
                        "Of Apple's key (.p8), of a certificate with its key (.p12) in Base64, or of Google's service account (JSON)."
                    ),
                    "key_id?": .text(40).said("Of Apple's key: ten characters."),
                    "team_id?": .text(40).said("Of Apple's: ten characters."),
                    "password?": .text(256).said("Of a .p12, where it has one."),
                    "topic?": .text(255).said("The app's bundle id, where the settings have none."),
                ],
                answer: .json(
                    "The difference, and what the service said.",
                    .object(
                        checkedMembers + ServiceAnswer.shape.members
                            + (["reach": reaches, "places": .list(.text)] as CallShape).members)),
                refuses: [.unfit, .conflict]),
            by: .node { calls, asked async throws(CallRefusal) in try await calls.takeCredential(asked.body) }
        )
    ]

    private func takeCredential(_ body: CallBody) async throws(CallRefusal) -> HTTPResponse {
        guard let way = WaySwitch(rawValue: try body.text("way")) else {
            preconditionFailure("the shape of the call has the ways")
        }
        let (file, running) = (node.host.settingsFile, node.settings)
        let state = running.stateDirectory
        let credential: WayCredential
        do throws(WayCredential.Fault) {
            let bytes = Array((body.optionalText("file") ?? "").utf8)
            credential =
                way == .google
                ? try WayCredential.google(bytes, in: state)
                : try WayCredential.apple(
                    bytes, keyID: body.optionalText("key_id") ?? "",
                    teamID: body.optionalText("team_id") ?? "",
                    password: body.optionalText("password") ?? "", topic: body.optionalText("topic") ?? "",
                    in: state)
        } catch {
            throw CallRefusal(.unfit, error.code, error.words)
        }
        let plan = try await keep { () throws(CallRefusal) in
            try CredentialPlan(credential, way, present: try NodeCalls.text(of: file), file, running)
        }
        let answer = try await ask(serviceOf: plan.app, reading: plan.contents)
        try await keep { () throws(CallRefusal) in try plan.write() }
        let facts = ServiceAnswer.members(answer)
        let checked = try await checked(plan.text, besides: plan.present, file)
        return HTTPResponse(
            status: 200, json: .object(checked.merging(way.members(in: plan.settings)).merging(facts)))
    }

    /// The answer of a push service to a question by which nobody is rung.
    struct ServiceAnswer {
        let isTaken: Bool
        /// The words of the service, or why it was not asked.
        let reason: String

        static let shape: CallShape = [
            "service": .nullable(.choice(["taken", "unclear"])).said(
                "unclear: it could not be asked, or something else answered. null: nobody was asked."),
            "reason": .text.said("In the words of the service, or why it was not asked."),
        ]

        static func members(_ answer: ServiceAnswer?) -> JSON.Object {
            [
                "service": answer.map { .string($0.isTaken ? "taken" : "unclear") } ?? .null,
                "reason": .string(answer?.reason ?? ""),
            ]
        }
    }

    /// Asks the service of an app whether it takes the app's requests: one host after the other, until one takes them.
    ///
    /// - Throws: All refuse it.
    func ask(
        serviceOf app: Settings.App, reading contents: CredentialFiles.Contents
    ) async throws(CallRefusal) -> ServiceAnswer {
        let presence = node.presence
        let tor = Egress.tor { [weak presence] in presence?.socks }
        let egress = app.settings.needsTor ? tor : node.settings.egress(orBy: tor)
        let advice = type(of: app.settings).advice
        var (refusal, doubt): (String?, String?)
        do {
            for probe in try app.settings.probes(by: egress.forApp(app.name), reading: contents.read) {
                switch try await probe.run() {
                case .taken(let reason): return ServiceAnswer(isTaken: true, reason: reason)
                case .refused(let reason):
                    refusal = refusal ?? [reason, advice(reason)].compactMap(\.self).joined(separator: ": ")
                case .unclear(let reason), .untrusted(let reason), .unreachable(let reason):
                    let words = [reason, advice(reason)].compactMap(\.self).joined(separator: ": ")
                    doubt = doubt ?? "\(probe.url.host): \(words)"
                }
            }
        } catch {
            throw CallRefusal(.unfit, "unfit_credential", "\(error)")
        }
        if let doubt { return ServiceAnswer(isTaken: false, reason: doubt) }
        throw CallRefusal(.unfit, "service_refuses", "the service refuses it: \(refusal ?? "no host")")
    }
}

/// A credential, with the settings that would use it. Made off the event loop.
private struct CredentialPlan: Sendable {
    let present: String
    let text: String
    let settings: Settings
    /// The app that would have the credential.
    let app: Settings.App
    /// The files of the app as they would be.
    let contents: CredentialFiles.Contents
    private let credential: WayCredential
    private let state: String
    /// The files that the settings name: those of the file, and those that the node runs with.
    private let named: [String]

    init(
        _ credential: WayCredential, _ way: WaySwitch, present: String, _ file: String, _ running: Settings
    ) throws(CallRefusal) {
        let before: Settings
        do throws(SettingsEdit.Refusal) {
            before = try NodeCalls.settings(of: present, file, running.built)
            text = try way.on(present, before, by: credential)
            settings = try NodeCalls.settings(of: text, file, running.built)
        } catch {
            throw NodeCalls.uneditable("this way")
        }
        guard let app = way.app(for: credential, in: settings) else { throw NodeCalls.uneditable("this way") }
        var contents = CredentialFiles.Contents(
            reading: app.settings.files.filter { path in
                !credential.files.contains { $0.path.hasSameBytes(as: path) }
            })
        for (path, content) in credential.files { contents.put(content.bytes, at: path) }
        (self.present, self.app, self.contents, self.credential) = (present, app, contents, credential)
        (state, named) = (running.stateDirectory, before.namedFiles + running.namedFiles)
    }

    /// Writes the credential, and removes those that were taken before and that no settings name.
    func write() throws(CallRefusal) {
        let directory = StateDirectory.gatewayKeys(in: state)
        let changed = credential.files.filter { (try? CredentialFiles.read($0.path)) != $0.content.bytes }
        guard !changed.isEmpty else { return }
        guard !changed.contains(where: { named.contains($0.path) }) else {
            throw CallRefusal(
                .conflict, "credential_in_use",
                "another key with this id is in use: switch the way off, and then on with this one")
        }
        do throws(SystemError) {
            try PrivateFile.makeDirectory(directory)
            for name in try PrivateFile.names(in: directory) where !named.contains("\(directory)/\(name)") {
                try PrivateFile.remove("\(directory)/\(name)")
            }
            for (path, content) in credential.files {
                try PrivateFile.write(content.bytes, to: path, replacing: true)
            }
        } catch {
            throw CallRefusal(.unavailable, "not_written", "\(error)")
        }
    }
}
