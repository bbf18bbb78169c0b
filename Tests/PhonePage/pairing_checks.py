"""How keys come in and go out: the node's, this phone's, another phone's."""

import re
import urllib.parse

from PIL import Image
from pyzbar import pyzbar

import bisq
from bench import key
from checks import equal, until

languages = ("en", "de", "es", "fr", "pt", "ru")


def read_qr(page):
    """What a camera reads from the page as it is on the screen."""
    page.run("document.querySelector('.qr').scrollIntoView({block: 'center'})")
    page.picture(page.browser.profile / "code.png")
    found = pyzbar.decode(Image.open(page.browser.profile / "code.png"), [pyzbar.ZBarSymbol.QRCODE])
    equal(len(found), 1)
    return found[0].data.decode()


def qr_codes_of_every_version_can_be_read(bench):
    with bench.page() as page:
        lengths = [
            1,
            17,
            18,
            32,
            53,
            78,
            106,
            134,
            154,
            192,
            230,
            231,
            271,
            321,
            367,
            425,
            458,
            520,
            586,
            644,
            718,
            792,
            858,
            929,
            1003,
            1091,
            1171,
            1273,
        ]
        for length in lengths:
            text = ("wp1:aZ09._-|:2F" * 120)[:length]
            rows = page.run(
                "return (await import('./qr.js')).modulesFor(given[0]).map(row => row.map(Number).join(''))", text
            )
            size = len(rows) + 8
            image = Image.new("L", (size, size), 255)
            for y, row in enumerate(rows):
                for x, module in enumerate(row):
                    image.putpixel((x + 4, y + 4), 0 if module == "1" else 255)
            found = pyzbar.decode(image.resize((4 * size, 4 * size), Image.NEAREST), [pyzbar.ZBarSymbol.QRCODE])
            equal([code.data.decode() for code in found], [text])
        assert page.run(
            "try { (await import('./qr.js')).modulesFor('x'.repeat(1274)); return false } catch { return true }"
        )


def the_pairing_token_comes_first_and_as_text(bench):
    """Bisq 1 has no scanner since 1.10; the same token as QR code is one tap away, for an older one."""
    with bench.page() as page:
        token = page.pair()
        assert token.startswith("android|Web|") and 32 <= len(token.split("|")[3])
        equal(bisq.opened_token(token.split("|")[3])["auth"], bisq.from_base64url("_KR2sP79J16hbekKFEkcoA"))
        page.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        page.tap("Copy token")
        until(lambda: page.run("return window.copied ?? null") == token, "the token on the clipboard")
        shown = page.run("return ['#token', '.qr'].map((one) => document.querySelector(one).checkVisibility())")
        equal(shown, [True, False])
        page.tap("As a QR code, for a Bisq 1 before 1.10")
        for scheme in ("light", "dark"):
            page.appearance(scheme)
            equal(read_qr(page), token)


def nothing_offers_to_send_the_token_away(bench):
    """It holds the key, and it is to be kept secret: no link leads out of the page."""
    with bench.page() as page:
        page.pair()
        for language in languages:
            page.run("await (await import('./state.js')).prefer({language: given[0]})", language)
            page.go("#/")
            page.go("#/pair")
            page.shown("#token")
            links = page.run("return [...document.querySelectorAll('a[href]')].map(one => one.getAttribute('href'))")
            equal([link for link in links if not link.startswith("#/")], [])


def no_text_sends_somebody_to_a_webcam_but_with_a_version(bench):
    """In any language: today's Bisq has none."""
    with bench.page() as page:
        for language in languages:
            texts = page.run("return (await import(`./languages/${given[0]}.js`)).default", language)
            named = [text for text in texts.values() if re.search("webcam|cámara web|веб-камер", text, re.IGNORECASE)]
            assert named and all("1.10" in text for text in named), (language, named)


def an_app_that_lost_the_fragment_asks_for_the_key(bench):
    """`start_url` with an empty storage, as an app on an iPhone's home screen begins."""
    with bench.page() as page:
        equal(page.run("return location.href"), bench.url)
        page.tap("Turn on notifications")
        page.says("Your node's key")
        for wrong in (
            "",
            "B",
            bench.vapid[:-1],
            "A" + bench.vapid[1:],
            bench.vapid + "A",
            "https://example.org/#k=x",
            "x" * 5000,
        ):
            page.type("textarea", wrong)
            page.tap("Next")
            page.says("This is no key of a node")
        page.type("textarea", f" {bench.url}#k={bench.vapid}\n")
        page.tap("Next")
        page.tap("Turn on notifications")
        page.shown("#token")
    with bench.page("#/key") as page:
        page.type("textarea", bench.vapid)
        page.tap("Next")
        page.tap("Turn on notifications")
        page.shown("#token")


def the_fragment_gives_the_key_and_leaves_the_address(bench):
    with bench.page(f"#k={bench.vapid}") as page:
        until(lambda: "#" not in page.run("return location.href"), "an address without the key")
        page.tap("Turn on notifications")
        page.shown("#token")
        equal(page.run("return (await (await import('./store.js')).setting('pairing')).vapidKey"), bench.vapid)


def a_camera_reads_the_key_where_the_browser_can(bench):
    """The detector is made up, and so is the camera: no browser here has either."""
    with bench.page() as page:
        page.command(
            "Page.addScriptToEvaluateOnNewDocument",
            {"source": """
            window.BarcodeDetector = class { async detect() { return window.code ? [{rawValue: window.code}] : []; } };
            navigator.mediaDevices.getUserMedia = async () => {
                if (window.blocked) throw new DOMException("made up", "NotAllowedError");
                return document.createElement("canvas").captureStream();
            };
            HTMLMediaElement.prototype.play = async () => {};"""},
        )
        page.open("about:blank")
        page.open(f"{bench.url}#/key")
        page.run("window.blocked = true")
        page.tap("Scan a QR code")
        page.says("The camera can't be used")
        page.run("window.blocked = false")
        page.tap("Scan a QR code")
        page.says("Hold the QR code")
        page.tap("Cancel")
        until(lambda: page.run("return document.querySelector('dialog') === null"), "the camera's end")
        page.tap("Scan a QR code")
        page.run("window.code = given[0]", f"{bench.url}#k={bench.vapid}")
        page.tap("Turn on notifications")
        page.shown("#token")


def a_page_for_one_node_asks_for_no_key(bench):
    deployed = bench.host.folder / "some/path/deployed.js"
    before = deployed.read_text()
    deployed.write_text(before.replace('vapidKey = ""', f'vapidKey = "{bench.vapid}"'))
    try:
        with bench.page() as page:
            page.go(f"#k={bisq.vapid_key()}")
            page.says("This link belongs to another node.")
            page.tap("Turn on notifications")
            page.shown("#token")
            equal(page.run("return (await (await import('./store.js')).setting('pairing')).vapidKey"), bench.vapid)
    finally:
        deployed.write_text(before)


def an_iphone_is_told_to_use_the_home_screen_first(bench):
    from pictures import iphone

    with bench.page() as page:
        page.command("Emulation.setUserAgentOverride", {"userAgent": iphone, "platform": "iPhone"})
        page.open("about:blank")
        page.open(f"{bench.url}#k={bench.vapid}")
        page.says("First, add it to your Home Screen", "Copy the node's key")
        assert "Turn on notifications" not in page.text()


def what_the_browser_refuses_is_explained(bench):
    for error, text in [
        ("NotAllowedError", "are blocked"),
        ("AbortError", "did not answer"),
        ("NotSupportedError", "can't receive"),
        ("OddError", "OddError"),
    ]:
        with bench.page(f"#k={bench.vapid}") as page:
            page.run("localStorage.setItem('subscribe fails', given[0])", error)
            page.tap("Turn on notifications")
            page.says(text)
            page.run("localStorage.removeItem('subscribe fails')")
            page.tap("Turn on notifications")
            page.shown("#token")
    with bench.page(f"#k={bench.vapid}") as page:
        late = page.run("""const {within} = await import("./subscription.js");
            return within(20, new Promise(() => {})).catch(error => error.name)""")
        equal(late, "TimeoutError")


def a_link_never_replaces_keys_without_asking(bench):
    """A link comes from anywhere: who made the key in it could read along, who made the node's could ring."""
    foreign = "x" * 32
    with bench.page(f"#k={bench.vapid}&p={foreign}") as page:
        page.says("Take the key in this link?")
        page.tap("Cancel")
        page.tap("Turn on notifications")
        page.shown("#token")
        assert foreign not in page.token()
    with bench.page() as page:
        page.pair(key)
        page.go(f"#k={bench.vapid}&p={foreign}")
        page.says("Take the key in this link?")
        page.tap("Cancel")
        page.go(f"#k={bisq.vapid_key()}")
        page.says("another node")
        page.tap("Cancel")
        page.go(f"#p={urllib.parse.quote(foreign)}&k=garbage")
        page.says("Take the key in this link?")
        page.tap("Cancel")
        equal(
            page.run(
                "const {key, vapidKey} = await (await import('./store.js')).setting('pairing'); return [key, vapidKey]"
            ),
            [key, bench.vapid],
        )
        for fragment in (
            "#k=",
            "#p=",
            "#k=%",
            "#p=%E0%A4%A",
            "#notice/../..",
            "#/__proto__",
            "#/constructor",
            "#/notice/NaN",
        ):
            page.go(fragment)
            page.says("Notifications")


def the_next_phone_takes_the_key_by_link(bench):
    with bench.page() as first, bench.page() as second, bench.page() as third:
        first.pair()
        token = first.token()
        first.go("#/phone")
        link = read_qr(first)
        assert link.startswith(bench.url)
        second.open("about:blank")
        second.open(link)
        second.tap("Take this key")
        second.tap("Turn on notifications")
        second.shown("#token")
        equal(second.token().split("|")[2], token.split("|")[2])
        third.pair()
        assert third.token().split("|")[2] != token.split("|")[2]
        third.go("#/take")
        third.type("textarea", "nothing of use")
        third.tap("Take this key")
        third.says("There is no key of a phone")
        third.type("textarea", link)
        third.tap("Take this key")
        third.says("Take the key in this link?")
        third.tap("Take this key")
        third.shown("#token")
        text = bisq.bisq1(token.split("|")[2], bisq.message("TRADE", "for all phones"))
        for phone in (first, second, third):
            phone.push(text)
            phone.notified("for all phones")


def another_nodes_link_pairs_anew_when_its_user_wants(bench):
    with bench.page() as page:
        page.pair(key)
        page.push(bisq.bisq1(key, bisq.message("TRADE", "of the old node")))
        page.notified("of the old node")
        other = bisq.vapid_key()
        page.go(f"#k={other}")
        page.tap("Unpair this phone")
        page.tap("Turn on notifications")
        page.shown("#token")
        equal(page.run("return (await (await import('./store.js')).setting('pairing')).vapidKey"), other)
        equal(page.kept(), [])


checks = [
    qr_codes_of_every_version_can_be_read,
    the_pairing_token_comes_first_and_as_text,
    nothing_offers_to_send_the_token_away,
    no_text_sends_somebody_to_a_webcam_but_with_a_version,
    an_app_that_lost_the_fragment_asks_for_the_key,
    the_fragment_gives_the_key_and_leaves_the_address,
    a_camera_reads_the_key_where_the_browser_can,
    a_page_for_one_node_asks_for_no_key,
    an_iphone_is_told_to_use_the_home_screen_first,
    what_the_browser_refuses_is_explained,
    a_link_never_replaces_keys_without_asking,
    the_next_phone_takes_the_key_by_link,
    another_nodes_link_pairs_anew_when_its_user_wants,
]
