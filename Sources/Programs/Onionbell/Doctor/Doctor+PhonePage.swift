#if PhonePage

    import Client
    import Gateways
    import HTTP1
    import Node
    import PhonePage
    import Reactor

    /// The page that phones load.
    extension Doctor {
        func checkPhonePage(_ key: String) async {
            guard let page = settings.feature(PhonePageFeature.self) else { return }
            guard !page.url.isEmpty || page.place.isOn else { return }
            if node != nil {
                for place in page.place.listen { await check(page, served: place, key) }
            }
            guard let url = try? GatewayURL(page.url) else { return }
            guard let egress else {
                return tell(
                    .warn(
                        "phone_page.url", "not tested: its way goes through tor, and no tor can be used",
                        "fix the tor problem above; then run this again"))
            }
            progress("loading \(url)")
            tell(Judgement.phonePage("phone_page.url", "\(url)", await parts(of: url, by: egress), key: key))
        }

        /// Checks the page as it leaves the node, whatever stands before it.
        private func check(_ page: PhonePageFeature, served place: DoorPlace, _ key: String) async {
            let check = "phone_page"
            let url: GatewayURL?
            let endpoint: Endpoint
            switch place {
            case .onion: return
            case .plain(let listener):
                endpoint = listener
                url = try? GatewayURL("http://127.0.0.1/phone/")
            case .https(let listener):
                endpoint = listener
                // The certificate has to bear the name that phones use.
                url = try? GatewayURL(page.url)
            }
            guard let url else {
                return tell(
                    .warn(
                        check,
                        "\(place) was not tested: the name that its certificate must bear is not known",
                        "set doors.phone_page.url"))
            }
            let parts = await parts(of: url, at: endpoint.reachable, by: .direct)
            tell(Judgement.phonePage(check, "\(place)", parts, key: key))
        }

        private func parts(
            of url: GatewayURL, at endpoint: Endpoint? = nil, by egress: Egress
        ) async -> Result<PhonePageParts, Dial.WebFailure> {
            /// Loads a file as a browser would, but follows no redirect.
            func load(_ file: String) async throws(Dial.WebFailure) -> HTTPResponse {
                let way = try await Dial.openWeb(to: url, by: egress, at: endpoint, deadline: .seconds(30))
                defer { way.stream.close() }
                do throws(HTTPExchangeError) {
                    return try await HTTPExchange.answer(
                        to: HTTPRequest(method: "GET", path: url.path + file, isKeptAlive: false),
                        host: url.authority,
                        over: way.stream, tls: way.tls, unread: way.unread, deadline: .seconds(30),
                        longest: 1 << 20)
                } catch {
                    throw .unreachable(reason: "\(error)")
                }
            }
            do throws(Dial.WebFailure) {
                return .success(
                    PhonePageParts(
                        index: try await load(""), deployed: try await load("deployed.js"),
                        worker: try await load("worker.js")))
            } catch {
                return .failure(error)
            }
        }
    }

    extension Endpoint {
        /// The endpoint from this machine: what listens at all of its addresses listens at loopback as well.
        fileprivate var reachable: Endpoint {
            switch self {
            case .host("0.0.0.0", let port): .host("127.0.0.1", port: port)
            case .host("::", let port): .host("::1", port: port)
            case .host, .unix: self
            }
        }
    }
#endif
