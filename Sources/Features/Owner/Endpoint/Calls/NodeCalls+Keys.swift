import Calls
import Doors
import Encodings
import Gateways
import HTTP1
import JSONCoding
import Node
import Tor

/// The calls about the node's two keys. The keys themselves are in no answer.
extension NodeCalls {
    nonisolated static let keyCalls: [Call] = [
        Call(
            CallText(
                "GET keys/onion", "getOnionKey",
                "The onion address, and the file of its key. The key is in no answer.",
                answer: .json("Both.", ["address": .text, "file": .text]), refuses: [.absent]),
            by: .files { files, _ throws(CallRefusal) in
                let file = OnionKeyFile(path: StateDirectory.onionKey(in: files.stateDirectory))
                let key: OnionKey?
                do throws(OnionKeyFileError) {
                    key = try file.load()
                } catch {
                    throw CallRefusal(.unavailable, "unreadable", "\(error)")
                }
                guard let key else {
                    throw CallRefusal(
                        .absent, "no_key",
                        "there is no \(file.path) yet: the node creates it at its first start")
                }
                return HTTPResponse(
                    status: 200, json: ["address": .string("\(key.address)"), "file": .string(file.path)])
            }),
        Call(
            CallText(
                "GET keys/vapid", "getVapidKey",
                "The key by which push services of browsers know the node: its public half, and its file.",
                answer: .json("Both.", ["public_key": .text, "file": .text]), refuses: [.absent]),
            by: .files { files, _ throws(CallRefusal) in
                let key: VAPIDKey
                do throws(CallRefusal) {
                    key = try StateDirectory.keptVAPIDKey(in: files.stateDirectory)
                } catch {
                    throw error.word == "no_key" ? CallRefusal(.absent, error.word, error.sentence) : error
                }
                return HTTPResponse(
                    status: 200,
                    json: [
                        "public_key": .string(key.publicText),
                        "file": .string(StateDirectory.vapidKey(in: files.stateDirectory)),
                    ])
            }),
    ]
}
