import ArgumentParser
import Calls
import Encodings
import JSONCoding
import Node
import Processes
import Terminal

/// A page of registrations of one kind, as the node tells them.
package struct RegistrationPage {
    package let fields: [String]
    package let rows: [[String]]
    package let hasMore: Bool

    package init(_ config: ConfigOption, _ path: String) async throws {
        let page = try await config.call("GET", path)
        fields = page?["fields"]?.array?.compactMap(\.string) ?? []
        rows = page?["rows"]?.array?.map { $0.array?.compactMap(\.string) ?? [] } ?? []
        hasMore = page?["more"]?.bool == true
    }

    package func json(_ row: [String], _ kind: String) -> JSON {
        var members: JSON.Object = ["kind": .string(kind)]
        for (field, value) in zip(fields, row) { members[field] = .string(value) }
        return .object(members)
    }
}

extension ConfigOption {
    /// Prints the registrations of a kind; `nil`: of all kinds.
    package func listRegistrations(of kind: String?, asJSON: Bool) async throws {
        var kinds = kind.map { [$0] } ?? []
        if kind == nil {
            kinds = try await call("GET", "registrations")?["kinds"]?.array?.compactMap(\.string) ?? []
        }
        var objects: [JSON] = []
        for kind in kinds {
            var last: String?
            var hasMore = true
            while hasMore {
                let query = last.map { "?after=\($0.percentEncoded)" } ?? ""
                let page = try await RegistrationPage(self, "registrations/\(kind.percentEncoded)\(query)")
                if !asJSON, last == nil {
                    printLine(
                        "\(kind): " + (page.rows.isEmpty ? "none" : page.fields.joined(separator: "\t")))
                }
                for row in page.rows {
                    if asJSON {
                        objects.append(page.json(row, kind))
                    } else {
                        printLine(row.map(SettingsFault.shown).joined(separator: "\t"))
                    }
                }
                last = page.rows.last?.first
                hasMore = page.hasMore && last != nil
            }
        }
        if asJSON {
            printLine(JSON.array(objects).text)
        } else if kinds.isEmpty {
            printLine("no endpoint stores registrations here")
        }
    }

    package func removeRegistration(_ id: String, of kind: String) async throws {
        try await call("DELETE", "registrations/\(kind.percentEncoded)/\(id.percentEncoded)")
        printLine("removed")
    }
}
