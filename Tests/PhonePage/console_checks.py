"""The console at a built node whose tor has no network: every screen for everybody, in six languages."""

import json
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

from checks import equal, until
from console_calls_checks import asked, session
from screens_checks import violations

fragments = ("#/", "#/phones", "#/now", "#/people", "#/keep", "#/settings", "#/access", "#/ways")
languages = ("en", "de", "es", "fr", "pt", "ru")
token = "android|Pixel <b>8</b>|Dk9erQ51RUOo8bV1IvaGpE99prQKLUdS|" + "a" * 140


def whoever_has_no_session_sees_nothing_but_the_login(world):
    with world.page(f"{world.origin}/#/phones") as page:
        page.says("Your node", "Passphrase")
        assert "Phones" not in page.text()
        page.type("input[type=password]", "wrong passphrase")
        page.tap("Enter")
        page.says("This passphrase does not let you in.")
        equal(violations(page, ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]), [])


def a_link_lets_in_once_and_leaves_the_address(world):
    link = world.link_file.read_text().strip()
    with world.page(link) as page:
        page.says("Let your Bisq ring your phone")
        equal(page.run("return [location.href, history.length]")[0], f"{world.origin}/")
        until(lambda: not world.link_file.exists(), "the file to go")
        # A second tab has the session, and the page can't read it.
        equal(page.run("return document.cookie"), "")
        page.open("about:blank")
        page.open(f"{world.origin}/#/now")
        page.says("Running for")
    with world.page(link) as other:
        other.says("Your node", "This link is no longer good. Open a new one.")
        equal(other.run("return location.hash"), "")


def a_phone_is_added_named_and_removed(world):
    with world.page(world.link()) as page:
        page.says("Let your Bisq")
        page.go("#/phones")
        for text, fault in [
            ("android|x", "This is no whole pairing token"),
            ("Android" + token[7:], "The first letter counts"),
            (token.replace("LUdS|", "LUd|"), "it has 32 characters"),
            (token[:80], "is not what the phone’s push service gives"),
        ]:
            page.type("#name", "alice")
            page.type("#token", text)
            page.tap("Add")
            page.says(fault)
        page.type("#token", f"  {token}\n")
        page.tap("Add")
        page.says("alice", "Pixel <b>8</b>")
        # It is rung while the screen is drawn anew, and its list has been asked for.
        page.run(
            """const ask = window.fetch;
            window.held = [];
            window.fetch = async (path, options) => {
                const answer = await ask(path, options);
                if (window.held && path.endsWith("/ways")) await new Promise(done => window.held.push(done));
                return answer;
            };
            document.querySelector("h1").dataset.old = 1;
            dispatchEvent(new HashChangeEvent("hashchange"));"""
        )
        until(lambda: page.run("return held.length > 0"), "the screen to ask")
        page.tap("Ring")
        # The app has no credentials: what is stored waits, or is refused, and the page says which.
        rung = lambda: page.run("return document.querySelector('.outcome')?.innerText ?? ''")
        until(lambda: len(rung()) > 12, lambda: f"an outcome: {rung()!r}")
        outcome = rung()
        page.run("const all = window.held; window.held = null; for (const go of all) go()")
        until(lambda: page.run("return !document.querySelector('h1').dataset.old"), "the screen to be drawn")
        equal(rung(), outcome)
        page.go("#/now")
        # The app has no credentials: the test was not taken, and the list says why.
        page.says("Rings", "Not taken", "1 × GatewayDisabled", "a test", "This way has no credentials here.")
        page.go("#/phones")
        equal(rung(), outcome)
        page.tap("Rename")
        page.type("dialog input", "bob")
        page.run("document.querySelector('dialog form').requestSubmit()")
        until(lambda: "bob" in page.text() and not page.run("return document.querySelector('dialog')"), "the name")
        page.go("#/")
        page.says("Phones in the book: 1")
        page.go("#/phones")
        page.tap("Remove")
        page.run("document.querySelector('dialog .danger').click()")
        page.says("There is no phone yet.")


def a_mailbox_shows_its_secrets_once(world):
    with world.page(world.link()) as page:
        page.go("#/phones")
        page.type("#mailbox", "me")
        page.tap("Make a mailbox")
        page.says("The mailbox me is made", "shown only now")
        equal(page.run("return document.querySelectorAll('#made .qr').length"), 3)
        equal(violations(page, ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]), [])
        page.tap("Done")
        until(lambda: "shown only now" not in page.text(), "it to go")
        page.says("Waiting: 0")


def a_peer_is_invited_after_a_question(world):
    with world.page(world.link()) as page:
        page.go("#/people")
        page.says("This node is public")
        page.type("#peer", "carol")
        page.run("document.querySelector('#peer').form.requestSubmit()")
        page.says("The node becomes private.")
        page.run("document.querySelector('dialog .danger').click()")
        page.says("carol is invited", ":descriptor:x25519:")
        for fragment in fragments:
            page.go(fragment)
            page.says("This node is private")
        page.go("#/people")
        page.tap("Let everybody in")
        page.run("document.querySelector('dialog .danger').click()")
        page.says("This node is public")
        until(lambda: "This node is private" not in page.text(), "the line to go")


def a_tor_that_is_not_there_yet_is_no_fault_at_first(world):
    """This node's tor has no network, so it never is."""
    with world.page(world.link()) as page:
        page.says("Let your Bisq")
        page.run(
            """const ask = window.fetch;
            window.fetch = async (path, options) => {
                const answer = await ask(path, options);
                if (!path.endsWith("/state/drawing")) return answer;
                return new Response((await answer.text()).replace(/data-word="now_(starting|failing)"/, `data-word="${window.word}"`));
            };"""
        )
        for word, text in [("now_starting", "The node is starting"), ("now_failing", "Something does not work")]:
            page.run("window.word = given[0]", word)
            page.go("#/now")
            page.says(text, "Onion address: tor bootstraps")
            page.go("#/")


def every_screen_of_the_console_is_accessible_in_light_and_dark(world):
    with world.page(world.link()) as page:
        page.says("Let your Bisq")
        for fragment in fragments:
            page.go(fragment)
            for scheme, rules in [
                ("light", ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]),
                ("dark", ["color-contrast"]),
            ]:
                page.appearance(scheme)
                page.settle()
                equal((fragment, scheme, violations(page, rules)), (fragment, scheme, []))
        # Beside the screen stands a bar in place of the tabs.
        page.size(1280, 900)
        page.appearance("light")
        for fragment in ("#/", "#/ways"):
            page.go(fragment)
            page.settle()
            equal((fragment, violations(page, ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"])), (fragment, []))
        sides = page.run("return ['#tabs', 'main'].map(one => { const { left, right } = document.querySelector(one).getBoundingClientRect(); return [left, right]; })")
        assert sides[0][1] <= sides[1][0] and page.run("return document.documentElement.scrollWidth <= innerWidth"), sides


def nothing_of_the_console_is_cut_on_a_small_phone_in_any_language(world):
    with world.page(world.link(), width=320, height=568) as page:
        page.says("Let your Bisq")
        for language in languages:
            page.speak(language)
            for fragment in fragments[1:] + fragments[:1]:
                page.go(fragment)
                wide = page.run(
                    """return [document.documentElement.scrollWidth > innerWidth,
                    [...document.querySelectorAll("button, a, h1, h2:not(.unseen), dd, dt, strong")].filter(one => one.scrollWidth > one.clientWidth + 1
                        && getComputedStyle(one).display !== "inline").map(one => one.outerHTML.slice(0, 120))]"""
                )
                equal((language, fragment, wide), (language, fragment, [False, []]))
                equal(page.run("return document.documentElement.lang"), language)


def every_language_has_the_same_words(world):
    folder = world.root / "Sources/Console/languages"
    names = {}
    for path in sorted(folder.glob("*.js")):
        names.setdefault(path.stem.split("-")[0], []).extend(re.findall(r"^    (\w+): ", path.read_text(), re.M))
    equal(sorted(names), sorted(languages))
    for language, found in names.items():
        equal((language, found), (language, names["en"]))
    sources = "".join(
        path.read_text() for path in [*(world.root / "Sources/Console").rglob("*.js")] if path.parent != folder
    )
    # What the console shares with the phone's page speaks with the console's words.
    sources += (world.root / "Sources/PhonePage/dom.js").read_text()
    used = set(re.findall(r'words\("(\w+)"', sources))
    # And those of the node's drawing of its state.
    drawing = "".join(path.read_text() for path in (world.root / "Sources/Core/Overview").glob("*.swift"))
    labels = set(re.findall(r'"((?:now|events)_\w+)"', drawing)) | {"now_ok", "now_warning", "now_failing"}
    assert len(labels) > 15, labels
    kinds = re.findall(r'case \.\w+: "([a-z_]+)"$', (world.root / "Sources/Core/Overview/CheckKind.swift").read_text(), re.M)
    reasons = re.findall(r'case \.\w+: "([A-Z]\w+)"$', (world.root / "Sources/Core/Relay/Answers/Receipt.swift").read_text(), re.M)
    assert len(kinds) == 14 and len(reasons) >= 14, (kinds, reasons)
    labels |= {f"check_{kind}" for kind in kinds} | {f"refusal_{reason}" for reason in reasons}
    equal(sorted((used | labels) - set(names["en"])), [])
    # The list of rings knows which reasons have words.
    listed = re.search(r"const reasons = new Set\(\[(.*?)\]\)", sources, re.S)[1]
    equal(sorted(re.findall(r'"(\w+)"', listed)), sorted(reasons))
    codes = re.findall(r'"(\w+)"', re.search(r"const known = new Set\(\[(.*?)\]\)", sources, re.S)[1])
    equal([code for code in codes if f"fault_{code}" not in names["en"]], [])


# Words by which a language addresses somebody whom one knows; its texts have the polite form.
familiar = {
    "de": "du|dich|dir|dein|deine|deinen|deiner", "es": "tú|tu|tus|ti", "fr": "tu|toi|ton|ta|tes", "pt": "tu|teu|tua|ti",
    "ru": "ты|тебя|тебе|твой|твоя|твои",
}  # fmt: skip


def no_text_is_left_in_english_and_people_are_addressed_in_one_way(world):
    texts = {}
    for path in (world.root / "Sources/Console/languages").glob("*.js"):
        texts.setdefault(path.stem.split("-")[0], {}).update(re.findall(r'^    (\w+): "(.*)",$', path.read_text(), re.M))
    for language, words in familiar.items():
        for name, english in texts["en"].items():
            text = texts[language][name]
            places = [sorted(re.findall(r"\{\w+\}", one)) for one in (text, english)]
            equal((language, name, places[0]), (language, name, places[1]))
            # A single word may be the same; sentences are not.
            assert text != english or " " not in english, (language, name, text)
            assert not re.search(r"\b([Tt]he|and|is|with|not)\b", text), (language, name, text)
            assert not re.search(rf"\b({words})\b", text, re.I), (language, name, text)


def the_console_asks_nobody_but_the_node(world):
    with world.page(world.link()) as page:
        page.says("Let your Bisq")
        for fragment in fragments:
            page.go(fragment)
        asked = {event["request"]["url"] for event in page.events("Network.requestWillBeSent")}
        assert len(asked) > 15, asked
        equal([url for url in asked if not url.startswith((world.origin, "about:"))], [])
        # Advice of the browser's is "verbose"; what it refuses is not.
        entries = [event["entry"] for event in page.events("Log.entryAdded")]
        equal([entry["text"] for entry in entries if entry["level"] != "verbose"], [])


def the_passphrase_lets_in_and_leaving_ends_it(world):
    with world.page(world.link()) as page:
        page.go("#/access")
        page.type("input[name=passphrase]", "short")
        page.type("#passphrase-again", "short")
        page.tap("Set the passphrase")
        page.says("A passphrase has at least 10 characters.")
        page.type("input[name=passphrase]", "correct horse")
        page.type("#passphrase-again", "correct horse")
        page.tap("Set the passphrase")
        page.says("The passphrase is set")
        page.tap("Leave")
        page.says("Your node")
        page.type("input[type=password]", "correct horse")
        page.tap("Enter")
        page.says("Access")


def what_changes_is_shown_by_itself_and_nothing_is_asked_at_rest(world):
    with world.page(world.link()) as page:
        page.says("Let your Bisq")
        page.go("#/phones")
        page.says("There is no phone yet.")
        page.type("#name", "typed")
        cookie = session(world)

        def calls():
            return [url for url in page.run("return performance.getEntriesByType('resource').map(one => one.name)") if "/api/" in url]

        # By another browser: the list is drawn anew, and what stands in the form stays.
        equal(asked(world, "POST", "/phones", {"name": "carol", "pairing_token": token}, cookie)[0], 201)
        page.says("carol")
        equal(page.run("return document.querySelector('#name').value"), "typed")
        page.go("#/")
        page.says("Phones in the book: 1")
        equal(subprocess.run(
            [world.command, "phones", "remove", "carol", "--config", world.config], capture_output=True
        ).returncode, 0)  # fmt: skip
        until(lambda: "Phones in the book" not in page.text(), "the phone to go")
        page.go("#/now")
        page.says("Running for")
        # Each call has its event. What asks by the clock would never be still for so long.
        def is_still():
            before = len(calls())
            page.run("await new Promise(done => setTimeout(done, 6000))")
            return len(calls()) == before

        until(is_still, "an end of calls")


def what_changes_while_a_screen_asks_is_not_lost(world):
    """The answer of a screen is older than the change, and the change is told before the screen is drawn."""
    with world.page(world.link()) as page:
        page.says("Let your Bisq")
        page.run(
            """const ask = window.fetch;
            window.held = {count: 0};
            window.fetch = async (path, options) => {
                const answer = await ask(path, options);
                if (String(path).endsWith("/phones") && ++held.count === 1) await new Promise(done => held.go = done);
                return answer;
            };
            location.hash = "#/phones";"""
        )
        until(lambda: page.run("return Boolean(held.go)"), "the screen to ask")
        cookie = session(world)
        equal(asked(world, "POST", "/phones", {"name": "carol", "pairing_token": token}, cookie)[0], 201)
        # Told when the screen that is still shown asks again.
        until(lambda: page.run("return held.count > 1"), "the change to be told")
        page.run("held.go()")
        page.says("Phones", "carol")
        equal(asked(world, "DELETE", "/names/carol", None, cookie)[0], 200)


def an_answer_that_breaks_off_ends_nothing(world):
    """The node may be restarted amid it. What changes later is drawn all the same, and a form says it."""
    with world.page(world.link()) as page:
        page.go("#/phones")
        page.says("There is no phone yet.")
        page.run(
            """const ask = window.fetch;
            window.broken = [];
            const breaks = (name) => !broken.includes(name) && broken.push(name);
            window.fetch = async (path, options) => {
                const answer = await ask(path, options);
                const name = String(path).split("/").at(-1);
                if (!(name === "phones" || name === "backup" && options.method === "POST") || !breaks(name)) return answer;
                return new Response(new ReadableStream({start: (body) => body.error(new TypeError("network error"))}));
            };"""
        )
        cookie = session(world)
        equal(asked(world, "POST", "/phones", {"name": "carol", "pairing_token": token}, cookie)[0], 201)
        until(lambda: page.run("return broken.length === 1"), "the change to be told")
        equal(asked(world, "PUT", "/names/carol", {"name": "dora"}, cookie)[0], 204)
        page.says("dora")
        equal(asked(world, "DELETE", "/names/dora", None, cookie)[0], 200)
        page.go("#/keep")
        page.type("#copy-passphrase", "a long passphrase")
        page.type("#copy-passphrase-again", "a long passphrase")
        page.run("document.querySelector('#copy form').requestSubmit()")
        page.says("does not answer")
        until(lambda: page.run("return !document.querySelector('#copy [type=submit]').disabled"), "the form to be there again")


def banner(page):
    """What stands above every screen when the node does not answer; None: nothing."""
    return page.run(
        "const line = document.getElementById('presence'); return line.checkVisibility() ? line.textContent : null"
    )


def a_page_over_a_node_that_hangs_says_so_on_every_screen_and_comes_back(world):
    """The system still takes connections, and nobody answers."""
    with world.page(world.link()) as page:
        page.go("#/now")
        page.says("Running for")
        equal(banner(page), None)
        world.node.send_signal(signal.SIGSTOP)
        try:
            until(lambda: (banner(page) or "").startswith("No answer since "), "the page to doubt")
            equal(page.run("return document.querySelector('.verdict')?.checkVisibility() ?? false"), False)
            for fragment in fragments:
                page.run("location.hash = given[0]", fragment)
                assert banner(page), fragment
        finally:
            world.node.send_signal(signal.SIGCONT)
        until(lambda: banner(page) is None, "the page to hear the node")
        page.says("Ways to phones")
        page.go("#/now")
        page.says("Running for")
        equal(page.run("return document.querySelector('.verdict').checkVisibility()"), True)


def a_page_over_a_node_that_is_gone_says_so_and_comes_back(world):
    with world.page(world.link()) as page:
        page.go("#/phones")
        page.says("Add")
        world.end()
        until(lambda: (banner(page) or "").startswith("No answer since "), "the page to doubt")
        page.run("location.hash = '#/now'")
        page.says("The node does not answer.")
        world.begin()
        until(lambda: banner(page) is None, "the page to hear the node")
        until(lambda: "The node does not answer." not in page.text(), "the screen to come back")
        until(lambda: "Running for" in page.text() or "Your node" in page.text(), "the screen to be drawn")


def a_due_restart_is_said_on_every_screen_and_a_second_change_is_taken(world):
    with world.page(world.link()) as page:
        page.go("#/settings")
        for value in ["160", "161"]:
            page.run(
                """const text = document.querySelector('#text');
                text.value = text.value.replace(/\\nlimits: .*\\n/, "\\n") + `limits: {token_burst: ${given[0]}}\\n`;
                document.querySelector('details').open = true;
                text.closest('form').requestSubmit();""",
                value,
            )
            difference = "return document.querySelector('#difference')?.textContent ?? ''"
            until(lambda: f"token_burst: {value}" in page.run(difference), "the difference")
            page.tap("Take it over")
            page.says("The settings are written.")
            assert "Somebody else" not in page.text()
        for fragment in fragments:
            page.go(fragment)
            until(lambda: "A restart is due" in page.text() and "limits.token_burst" in page.text(), fragment)
        world.end()
        world.begin()
        until(lambda: "A restart is due" not in page.text(), "the line to go")


def what_somebody_else_changes_is_said_on_every_screen_within_ten_seconds(world):
    """By an editor, of which the node is told nothing. It goes by itself when the file is as the page knows it, or is read."""
    before = world.config.read_text()
    others = "Somebody else has changed the settings meanwhile."
    with world.page(world.link()) as page, world.page(world.link()) as settings:
        settings.go("#/settings")
        settings.says("Settings")
        for fragment in fragments:
            page.go(fragment)
            assert others not in page.text(), fragment
        world.config.write_text(before + "peers: {unanswered: 200}\n")
        written = time.monotonic()
        page.says(others)
        settings.says(others)
        took = time.monotonic() - written
        assert took < 10, took
        for fragment in fragments:
            if fragment not in ("#/settings", "#/ways"):  # those read them
                page.go(fragment)
                page.says(others)
        world.config.write_text(before)
        until(lambda: others not in page.text(), "the line to go")
        world.config.write_text(before + "peers: {unanswered: 200}\n")
        world.node.send_signal(signal.SIGHUP)
        page.says(others)
        until(lambda: "A restart is due" in page.text() and "peers.unanswered" in page.text(), "the line")
        settings.says(others)
        settings.tap("Load what is there now")
        until(lambda: "unanswered: 200" in settings.run("return document.querySelector('#text')?.value ?? ''"), "the settings")
        until(lambda: others not in settings.text(), "the line to go")
        page.go("#/settings")
        until(lambda: others not in page.text(), "the line to go")
        world.config.write_text(before)
        world.node.send_signal(signal.SIGHUP)
        until(lambda: "A restart is due" not in page.text(), "the line to go")


def a_widgets_token_is_shown_once_and_revoked(world):
    with world.page(world.link()) as page:
        page.go("#/access")
        page.type("#widget", "home")
        page.tap("Make a token")
        page.says("home", "shown only now", "/api/v1/widget")
        text = page.run("return document.querySelector('.once code').innerText")
        request = urllib.request.Request(f"{world.origin}/api/v1/widget", headers={"Authorization": f"Bearer {text}"})
        with urllib.request.urlopen(request) as answer:
            equal(sorted(json.load(answer)), ["delivered_today", "last_ring", "state", "waiting"])
        equal(violations(page, ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]), [])
        page.tap("Remove")
        page.run("document.querySelector('dialog .danger').click()")
        until(lambda: "shown only now" not in page.text() and page.run("return !document.querySelector('.card:not(#sessions, #onion) .phone')"), "it to go")
        try:
            urllib.request.urlopen(request)
            raise AssertionError("a revoked token is good")
        except urllib.error.HTTPError as error:
            equal(error.code, 401)


checks = [
    whoever_has_no_session_sees_nothing_but_the_login,
    a_link_lets_in_once_and_leaves_the_address,
    a_phone_is_added_named_and_removed,
    a_mailbox_shows_its_secrets_once,
    a_peer_is_invited_after_a_question,
    what_changes_is_shown_by_itself_and_nothing_is_asked_at_rest,
    what_changes_while_a_screen_asks_is_not_lost,
    an_answer_that_breaks_off_ends_nothing,
    a_widgets_token_is_shown_once_and_revoked,
    a_tor_that_is_not_there_yet_is_no_fault_at_first,
    every_screen_of_the_console_is_accessible_in_light_and_dark,
    nothing_of_the_console_is_cut_on_a_small_phone_in_any_language,
    a_page_over_a_node_that_hangs_says_so_on_every_screen_and_comes_back,
    a_page_over_a_node_that_is_gone_says_so_and_comes_back,
    a_due_restart_is_said_on_every_screen_and_a_second_change_is_taken,
    what_somebody_else_changes_is_said_on_every_screen_within_ten_seconds,
    the_passphrase_lets_in_and_leaving_ends_it,
]
# What needs no browser, and what asks Chromium for what it has loaded.
in_chromium = [
    every_language_has_the_same_words,
    no_text_is_left_in_english_and_people_are_addressed_in_one_way,
    the_console_asks_nobody_but_the_node,
]
