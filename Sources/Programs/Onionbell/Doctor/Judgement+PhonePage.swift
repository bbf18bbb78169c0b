#if PhonePage
    import Encodings
    import Gateways
    import HTTP1
    import Terminal

    /// The parts of the phone's page that were loaded.
    struct PhonePageParts {
        var index: HTTPResponse
        var deployed: HTTPResponse
        var worker: HTTPResponse
    }

    extension Judgement {
        /// Judges the phone's page as `place` serves it.
        ///
        /// - Parameter key: This node's VAPID key.
        static func phonePage(
            _ check: String, _ place: String, _ parts: Result<PhonePageParts, Dial.WebFailure>, key: String
        ) -> Finding {
            switch parts {
            case .failure(.untrusted(let reason)):
                return .fail(
                    check, "\(place): \(reason)",
                    "browsers refuse it too: get a certificate for that name from an authority that they trust"
                )
            case .failure(.unreachable(let reason)):
                return .fail(
                    check, "\(place): \(reason)",
                    "is the web server up, and do name, firewall and port lead to it? Paired phones go on without it"
                )
            case .success(let parts):
                if let fault = fault(of: parts, key) {
                    return .fail(check, "\(place): \(fault.words)", fault.advice)
                }
                guard let policy = parts.index.fields["content-security-policy"],
                    Array(policy.utf8).firstRange(of: "frame-ancestors") != nil,
                    parts.index.fields["x-content-type-options"]?.lowercasedASCII == "nosniff"
                else {
                    return .warn(
                        check, "\(place) serves the page for this node, without all of its security headers",
                        "let the web server send the two that RingAnyPhone.md names")
                }
                return .pass(check, "\(place) serves the page for this node")
            }
        }

        private static func fault(of parts: PhonePageParts, _ key: String) -> (words: String, advice: String)?
        {
            let upload = "write the page anew with Deploy/phone-page, and upload all of it"
            if (300..<400).contains(parts.index.status) {
                return (
                    "answers with a redirect (\(parts.index.status))",
                    "set doors.phone_page.url to where it leads: a phone is paired with one address only"
                )
            }
            let files = [
                ("the page", parts.index), ("deployed.js", parts.deployed), ("worker.js", parts.worker),
            ]
            for (name, answer) in files where answer.status != 200 {
                return ("\(name) answers with status \(answer.status)", upload)
            }
            guard parts.index.body.firstRange(of: "http-equiv=\"Content-Security-Policy\"") != nil else {
                return ("something else than the phone's page answers", upload)
            }
            for (name, answer) in files.dropFirst() {
                let type = answer.fields["content-type"]?.lowercasedASCII ?? ""
                // Anything else no browser runs as a module.
                guard type.hasPrefix("text/javascript") || type.hasPrefix("application/javascript") else {
                    return (
                        "\(name) comes as \(type.isEmpty ? "no type" : String(type.prefix(40)))",
                        "let the web server send .js files as text/javascript"
                    )
                }
            }
            let begin = "export const vapidKey = \""
            guard let start = parts.deployed.body.firstRange(of: begin)?.upperBound else {
                return ("deployed.js is not the page's", upload)
            }
            let its = parts.deployed.body[start...].prefix { $0 != UInt8(ascii: "\"") }
            guard its.isEmpty || its.elementsEqual(key.utf8) else {
                return (
                    "the page is for another node: phones that pair there are not this node's",
                    "write it anew: Deploy/phone-page OUT --vapid \(key)"
                )
            }
            return nil
        }
    }

    extension [UInt8] {
        fileprivate func firstRange(of text: String) -> Range<Int>? {
            let word = Array(text.utf8)
            guard count >= word.count else { return nil }
            let start = (0...count - word.count).first { self[$0..<$0 + word.count].elementsEqual(word) }
            return start.map { $0..<$0 + word.count }
        }
    }
#endif
