import Foundation
import Testing
import Vectors

@testable import Overview

/// The page in a real browser. With `STATUS_PAGE_PICTURES` set to a directory, pictures are taken as well: see
/// `Deploy/tools/screenshots`.
@Suite(.enabled(if: Browser.program != nil, "chromium is not installed"))
struct BrowserTests {
    private static let pages = [
        ("green", Sample.good), ("amber", Sample.warned), ("red", Sample.broken), ("new", Report()),
    ]
    /// Of a small phone, a phone, a tablet, a screen.
    private static let widths = [320, 390, 820, 1280]

    /// Nothing is wider than the screen, and nothing is cut: the page itself says how wide it wants to be.
    @Test func nothingIsWiderThanTheScreen() throws {
        let browser = try Browser()
        defer { browser.close() }
        var frames = ""
        for (name, report) in Self.pages {
            try browser.write(StatusPage.html(of: report), to: "\(name).html")
            for width in Self.widths {
                frames +=
                    "<iframe id=\"\(name)-\(width)\" src=\"\(name).html\" width=\"\(width)\" height=\"900\"></iframe>"
            }
        }
        let script = """
            window.onload = () => {
              document.title = [...document.querySelectorAll("iframe")].map(frame => {
                const page = frame.contentDocument.documentElement;
                const cut = [...page.querySelectorAll("td,dd,code,h1,li,p,figcaption")].filter(
                  part => part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).display != "inline");
                return `${frame.id}=${page.scrollWidth - page.clientWidth},${cut.length},${page.clientHeight > 0}`;
              }).join(" ");
            };
            """
        try browser.write(
            Array("<!DOCTYPE html><style>iframe{border:0}</style>\(frames)<script>\(script)</script>".utf8),
            to: "frames.html")
        let dom = try browser.run(["--dump-dom", "--virtual-time-budget=10000", browser.url("frames.html")])
        let title = try #require(dom.firstMatch(of: /<title>([^<]*)<\/title>/)).output.1
        let expected = Self.pages.flatMap { name, _ in Self.widths.map { "\(name)-\($0)=0,0,true" } }
        #expect(title.split(separator: " ").map(String.init) == expected)
    }

    /// What axe-core finds, on a phone and a screen, in light and dark.
    @Test(.enabled(if: Browser.axe != nil, "axe-core is not installed: Deploy/tools/dependencies test"))
    func everybodyCanReadIt() throws {
        let browser = try Browser()
        defer { browser.close() }
        let axe = try #require(Browser.axe)
        var frames = ""
        for (name, report) in Self.pages {
            // Without its own script, which would ask this file for news.
            let page = String(decoding: StatusPage.html(of: report), as: UTF8.self)
                .replacing("<script>\(StatusPage.script)</script>", with: "<script>\(axe)</script>")
            try browser.write(Array(page.utf8), to: "\(name)-axe.html")
            for (width, height) in [(390, 3400), (1280, 2200)] {
                frames +=
                    "<iframe id=\"\(name)-\(width)\" src=\"\(name)-axe.html\" width=\"\(width)\" height=\"\(height)\"></iframe>"
            }
        }
        let script = """
            window.onload = async () => {
              const found = [];
              for (const frame of document.querySelectorAll("iframe")) {
                const page = frame.contentWindow;
                const result = await page.axe.run(page.document);
                const faults = result.violations.map(({id, nodes}) => `${id}: ${nodes[0].html}`);
                const scheme = page.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
                found.push(`${frame.id}-${scheme} ${faults.join("; ")}`);
              }
              document.title = found.join("|");
            };
            """
        let style = "<style>:root{color-scheme:light dark}</style>"
        let page = "<!DOCTYPE html>\(style)\(frames)<script>\(script)</script>"
        try browser.write(Array(page.utf8), to: "axe.html")
        for (scheme, number) in [("light", 1), ("dark", 0)] {
            let dom = try browser.run([
                "--dump-dom", "--virtual-time-budget=60000",
                "--blink-settings=preferredColorScheme=\(number)", browser.url("axe.html"),
            ])
            let title = try #require(dom.firstMatch(of: /<title>([^<]*)<\/title>/)).output.1
            let expected = Self.pages.flatMap { name, _ in
                ["\(name)-390-\(scheme) ", "\(name)-1280-\(scheme) "]
            }
            #expect(title.split(separator: "|").map(String.init) == expected)
        }
    }

    @Test(.enabled(if: Browser.pictures != nil, "no pictures are asked for"))
    func picturesAreTaken() throws {
        let browser = try Browser()
        defer { browser.close() }
        let directory = try #require(Browser.pictures)
        for (name, report) in Self.pages {
            let page = URL(filePath: directory).appending(path: "\(name).html")
            try Data(StatusPage.html(of: report)).write(to: page)
            for (scheme, setting) in [("light", 1), ("dark", 0)] {
                for (screen, size) in [("phone", "390,3400"), ("desktop", "1280,2200")] {
                    let path = "\(directory)/\(name)-\(scheme)-\(screen).png"
                    _ = try browser.run([
                        "--hide-scrollbars", "--window-size=\(size)", "--screenshot=\(path)",
                        "--blink-settings=preferredColorScheme=\(setting)", page.absoluteString,
                    ])
                    #expect(FileManager.default.fileExists(atPath: path))
                }
            }
        }
    }
}

/// Chromium without a window, with a directory of its own.
private struct Browser {
    static let program = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    /// As `Deploy/tools/dependencies test` puts it beside the build.
    static let axe = try? String(
        contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../.build/python/axe_playwright_python/axe.min.js").standardized,
        encoding: .utf8)
    static let pictures = ProcessInfo.processInfo.environment["STATUS_PAGE_PICTURES"]

    private let directory = FileManager.default.temporaryDirectory.appending(
        path: "onionbell-browser-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    func close() { try? FileManager.default.removeItem(at: directory) }

    func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: directory.appending(path: name))
    }

    func url(_ name: String) -> String { directory.appending(path: name).absoluteString }

    func run(_ arguments: [String]) throws -> String {
        // The pages are our own, and root (in a container) has no sandbox to go into.
        try ProgramRun(
            [
                Self.program!, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-first-run", "--allow-file-access-from-files", "--disable-background-networking",
                "--disable-sync", "--disable-component-update", "--proxy-server=127.0.0.1:9",
                "--user-data-dir=\(directory.path)/profile",
            ] + arguments
        ).succeeded().text
    }
}
