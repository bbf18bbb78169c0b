import Calls
import Doors
import HTTP1
import JSONCoding
import Node
import Processes
import Reactor

/// The ways to phones, each with a switch.
extension NodeCalls {
    nonisolated static let wayCalls: [Call] = [
        Call(
            CallText(
                "GET ways", "listWays", "The ways to phones that can be switched on and off.",
                answer: .json(
                    "All, as they are in the node that runs.",
                    [
                        "ways": .list([
                            "way": wayNames, "state": .choice(WaySwitch.State.words),
                            "reason": .nullable(.text).said(
                                "What has to come first, or what is wrong and what helps."),
                            "reach": reaches, "places": .list(.text),
                            "address": .text.said("Of the page, or of the ntfy server."),
                        ])
                    ])),
            by: .node { calls, _ in
                let (settings, report) = (calls.node.settings, await calls.desk.put { $0 })
                let ways = WaySwitch.allCases.map { way -> JSON in
                    let state = way.state(in: settings, report)
                    return .object(
                        way.members(in: settings).merging([
                            "way": .string(way.rawValue), "state": .string(state.word),
                            "reason": state.reason.map { .string($0) } ?? .null,
                            "address": .string(way.address(in: settings)),
                        ]))
                }
                return HTTPResponse(status: 200, json: ["ways": .array(ways)])
            }),
        Call(
            CallText(
                "POST ways/check", "checkWay", "What it would do to switch a way on or off.",
                more:
                    "Nothing is changed. To do it, put the text as the settings with start: true, and restart the node.",
                asks: [
                    "way": wayNames, "on": .flag,
                    "address?": .text(500).said(
                        "Of the page, as phones find it, or of the ntfy server: https://HOST[:PORT]."),
                ],
                answer: .json(
                    "Its errors, or the difference.",
                    .object(
                        checkedMembers + ServiceAnswer.shape.members
                            + ([
                                "reach": reaches.said("Who reaches the node by this way then."),
                                "places": .list(.text),
                            ] as CallShape).members)), refuses: [.unfit]),
            by: .node { calls, asked async throws(CallRefusal) in try await calls.checkWay(asked.body) }),
    ]

    private nonisolated static let wayNames = CallShape.choice(WaySwitch.allCases.map(\.rawValue))
    nonisolated static let reaches = CallShape.choice(WaySwitch.Reach.allCases.map(\.rawValue))

    private func checkWay(_ body: CallBody) async throws(CallRefusal) -> HTTPResponse {
        guard let way = WaySwitch(rawValue: try body.text("way")) else {
            preconditionFailure("the shape of the call has the ways")
        }
        let (isOn, address) = (body.flag("on"), body.optionalText("address") ?? "")
        let (file, features) = (node.host.settingsFile, node.settings.built)
        let free = WaySwitch.localPlaces.filter { Listener.trialFault(at: $0, besides: []) == nil }
        let (present, text, facts, asked) = try await keep { () throws(CallRefusal) in
            let present = try NodeCalls.text(of: file)
            do throws(SettingsEdit.Refusal) {
                let settings = try NodeCalls.settings(of: present, file, features)
                let text =
                    isOn
                    ? try way.on(present, settings, at: address, free: free) : try way.off(present, settings)
                let then = (try? NodeCalls.settings(of: text, file, features)) ?? settings
                let server = isOn && way == .ntfy ? way.apps(in: then).first : nil
                return (
                    present, text, way.members(in: then),
                    server.map { ($0, CredentialFiles.Contents(reading: $0.settings.files)) }
                )
            } catch {
                throw NodeCalls.uneditable("this way")
            }
        }
        let checked = try await checked(text, besides: present, file)
        // Settings with a fault are not tried.
        let isTried = checked["fault_count"]?.integer == 0
        var answer: ServiceAnswer?
        if isTried, let (app, contents) = asked { answer = try await ask(serviceOf: app, reading: contents) }
        return HTTPResponse(
            status: 200, json: .object(checked.merging(facts).merging(ServiceAnswer.members(answer))))
    }

    /// Reads the settings of a text. One with faults has no ways to change: its owner corrects the text first.
    nonisolated static func settings(
        of text: String, _ file: String, _ features: Features
    ) throws(SettingsEdit.Refusal) -> Settings {
        do throws(SettingsError) {
            return try Settings(
                yaml: text, file: file, directory: absoluteDirectory(of: file), environment: environment,
                features: features)
        } catch {
            throw SettingsEdit.Refusal()
        }
    }
}

extension WaySwitch {
    func members(in settings: Settings) -> JSON.Object {
        [
            "reach": .string(reach(in: settings).rawValue),
            "places": .array(places(in: settings).map { .string("\($0)") }),
        ]
    }
}
