"""What users meet: settings, passcode, languages, keyboard, screen readers."""

import time
from pathlib import Path

import axe_playwright_python

import bisq
import pictures
from bench import key
from checks import equal, until
from pictures import passcode

axe = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()


def violations(page, rules):
    """What axe-core finds."""
    page.run(f"if (!window.axe) {{ {axe} }}")
    return page.run(
        """const result = await axe.run(document, {runOnly: given[0]});
        return result.violations.map(({id, nodes}) => `${id}: ${nodes.map(({html, failureSummary}) => html.slice(0, 150) + failureSummary).join(" | ")}`)""",
        rules,
    )


def every_screen_is_accessible_in_light_and_dark(bench):
    for name, page in pictures.screens(bench):
        # Only colours differ between the two.
        for scheme, rules in [
            ("light", ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]),
            ("dark", ["color-contrast"]),
        ]:
            page.appearance(scheme)
            page.settle()
            equal((name, scheme, violations(page, rules)), (name, scheme, []))


def nothing_is_cut_on_a_small_phone_in_any_language(bench):
    with bench.page(width=320, height=568) as page:
        page.pair(key)
        pictures.fill(page)
        for language in ("en", "de", "es", "fr", "pt", "ru"):
            page.run("await (await import('./state.js')).prefer({language: given[0]})", language)
            for fragment in ("#/", "#/pair", "#/settings", "#/phone", "#/take", "#/passcode", "#/report"):
                page.go(fragment)
                page.run("await new Promise(requestAnimationFrame)")
                wide = page.run(
                    """return [document.documentElement.scrollWidth > innerWidth,
                    [...document.querySelectorAll("button, a, h1, h2, dd, dt, strong")].filter(one => one.scrollWidth > one.clientWidth + 1
                        && getComputedStyle(one).display !== "inline").map(one => one.outerHTML.slice(0, 120))]"""
                )
                equal((language, fragment, wide), (language, fragment, [False, []]))
                equal(page.run("return document.documentElement.lang"), language)


def the_keyboard_reaches_everything(bench):
    def press(name):
        code = {"Tab": 9, "Enter": 13}[name]
        for kind in ("keyDown", "keyUp"):
            page.command(
                "Input.dispatchKeyEvent",
                {
                    "type": kind,
                    "key": name,
                    "code": name,
                    "windowsVirtualKeyCode": code,
                    "text": "\r" if name == "Enter" and kind == "keyDown" else "",
                },
            )

    with bench.page() as page:
        page.pair(key)
        pictures.fill(page)
        page.go("#/settings")
        wanted = page.run("return document.querySelectorAll('button, a, input, select, textarea').length")
        seen = set()
        for _ in range(wanted + 3):
            press("Tab")
            found = page.run(
                """const one = document.activeElement;
                const style = getComputedStyle(one);
                return one === document.body ? null : [one.outerHTML, style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2]"""
            )
            if found:
                seen.add(found[0])
                assert found[1], f"no focus is seen on {found[0][:100]}"
        equal(len(seen), wanted)
        page.go("#/")
        page.run("document.querySelector('.line').focus()")
        press("Enter")
        until(lambda: "#/notice/" in page.run("return location.hash"), "the notice")
        until(lambda: page.run("return document.activeElement.tagName") == "H1", "the focus on the heading")


def a_passcode_seals_the_key_and_what_comes(bench):
    with bench.page() as page:
        page.pair(key)
        page.push(bisq.bisq1(key, bisq.message("TRADE", "before the lock")))
        page.notified("before the lock")
        page.go("#/passcode")
        for first, second, text in [("12345", "12345", "at least 6"), (passcode, "another one", "not the same")]:
            page.run(
                "const [one, two] = document.querySelectorAll('input'); one.value = given[0]; two.value = given[1]",
                first,
                second,
            )
            page.tap("Set a passcode")
            page.says(text)
        page.run("for (const input of document.querySelectorAll('input')) input.value = given[0]", passcode)
        page.tap("Set a passcode")
        page.tap("Lock now")
        page.says("Locked")
        assert "before the lock" not in page.text()
        page.close_notifications()
        page.push(bisq.bisq1(key, bisq.message("DISPUTE", "while it is locked", "a secret")))
        page.push("garbage")
        page.notified("A new notification. Open Onionbell to read it.")
        until(lambda: len(page.notifications()) == 2, "two notifications")
        assert "secret" not in str(page.notifications())
        stored = page.run(
            """const store = await import("./store.js");
            return JSON.stringify([await store.setting("pairing"), await store.setting("preferences"), await store.allPushes()])"""
        )
        for secret in (key, "before the lock", "while it is locked", "a secret", passcode):
            assert secret not in stored, secret
        page.reload()
        page.type("input", "wrong horse")
        page.tap("Unlock")
        page.says("This is not the passcode.")
        page.type("input", passcode)
        page.tap("Unlock")
        page.says("while it is locked", "before the lock", "Unread: 2")
        equal(len(page.kept()), 2)


def a_push_is_kept_as_the_pairing_of_that_moment_wants_it(bench):
    """The worker reads the pairing, and opens a push; meanwhile a passcode is set, or the phone is unpaired."""
    keep = """const store = await import("./store.js");
        const push = {digest: given[0], text: "sealed", received: Date.now(), isRead: false, notice: {title: "a secret"}};
        const id = await store.keepPush(push);
        return [id ?? null, JSON.stringify(await store.allPushes())];"""
    with bench.page() as page:
        page.pair(key)
        page.run("const state = await import('./state.js'); await state.setPasscode(given[0]);", passcode)
        id, stored = page.run(keep, "one")
        assert id and "sealed" in stored and "secret" not in stored, stored
        page.run("const state = await import('./state.js'); await state.unpair();")
        equal(page.run(keep, "two"), [None, "[]"])


def what_the_worker_notes_while_a_passcode_is_set_stays(bench):
    """To make a key of it takes a while: the push service may give this browser another address meanwhile."""
    with bench.page() as page:
        page.pair(key)
        pairing = page.run(
            """const [store, state] = [await import("./store.js"), await import("./state.js")];
            const isSet = state.setPasscode(given[0]);
            await store.changeSetting("pairing", (now) => ({...now, moved: 5}));
            await isSet;
            return store.setting("pairing");""",
            passcode,
        )
        equal((pairing["moved"], "key" in pairing, "wrapped" in pairing), (5, False, True))


def what_another_window_locks_is_locked_here_too(bench):
    """The app and a tab share one storage. A key that was replaced there opens nothing here, so it throws nothing away."""
    there = """const [store, {wrap}] = [await import("./store.js"), await import("./passcode.js")];
        const wrapped = await wrap(given[0], given[1]);
        await store.replaceAll(({key, ...now}) => ({...now, wrapped}), ({notice, ...push}) => push);
        new BroadcastChannel(store.place).postMessage("changed");"""
    with bench.page() as page:
        page.pair(key)
        page.push(bisq.bisq1(key, bisq.message("TRADE", "before the lock")))
        page.says("before the lock")
        page.run(there, key, passcode)
        page.says("Locked")
        assert "before the lock" not in page.text()
        page.type("input", passcode)
        page.tap("Unlock")
        page.says("before the lock")
        page.run(there, key[::-1], "another passcode")
        page.push(bisq.bisq1(key[::-1], bisq.message("TRADE", "for the other key")))
        page.says("Locked")
        page.type("input", "another passcode")
        page.tap("Unlock")
        page.says("for the other key")


def a_form_that_fails_says_so_and_can_be_sent_again(bench):
    with bench.page() as page:
        page.pair(key)
        page.go("#/passcode")
        page.run(
            """const put = IDBObjectStore.prototype.put;
            IDBObjectStore.prototype.put = () => {
                IDBObjectStore.prototype.put = put;
                throw new DOMException("made up", "QuotaExceededError");
            };
            for (const input of document.querySelectorAll("input")) input.value = given[0];""",
            passcode,
        )
        page.tap("Set a passcode")
        page.says("That did not work: QuotaExceededError: made up")
        page.tap("Set a passcode")
        page.says("Lock now")


def what_came_while_locked_is_honoured_on_unlock(bench):
    with bench.page() as page:
        page.pair(key)
        page.run("const state = await import('./state.js'); await state.setPasscode(given[0]); state.lock();", passcode)
        for kind, title in [("TRADE", "erased later"), ("ERASE", ""), ("TRADE", "stays"), ("SETUP_CONFIRMATION", "")]:
            page.push(bisq.bisq1(key, bisq.message(kind, title)))
        until(lambda: len(page.notifications()) == 4, "four notifications")
        page.reload()
        page.type("input", passcode)
        page.tap("Unlock")
        page.says("stays", "Paired with Bisq")
        assert "erased later" not in page.text()
        page.go("#/pair")
        page.says("Bisq has confirmed this phone.")
        page.go("#/settings")
        page.tap("Remove the passcode")
        page.says("The passcode is removed.")
        page.reload()
        page.says("stays")
        page.push(bisq.bisq1(key, bisq.message("TRADE", "open again")))
        page.notified("open again")


def an_erase_that_came_while_locked_has_to_be_true_too(bench):
    hour = 3_600_000
    now = int(time.time() * 1000)
    with bench.page() as page:
        page.pair(key)
        page.run("const state = await import('./state.js'); await state.setPasscode(given[0]); state.lock();", passcode)
        page.push(bisq.bisq1(key, bisq.message("TRADE", "goes", sent=now - 2 * hour)))
        page.push(bisq.bisq1(key, bisq.message("TRADE", "stays", sent=now)))
        page.push(bisq.bisq1(key, bisq.message("ERASE", sent=now - hour)))
        page.push(bisq.bisq1(key, bisq.message("TRADE", "stays too", sent=now - 3 * hour)))
        page.push(bisq.forged(key, b'{"type":"ERASE"}'))
        page.push(bisq.bisq1(key, bisq.message("ERASE", "again", sent=now - hour)))
        page.reload()
        page.type("input", passcode)
        page.tap("Unlock")
        page.says("stays", "stays too", "Unread: 2")
        assert "goes" not in page.text()
        equal(len(page.kept()), 2)


def a_flood_on_a_locked_page_pushes_out_nothing_that_came_before(bench):
    """Some seconds: it keeps and opens more pushes than the page has room for."""
    with bench.page() as page:
        page.pair(key)
        page.push(bisq.bisq1(key, bisq.message("TRADE", "before the lock")))
        page.run("const state = await import('./state.js'); await state.setPasscode(given[0]); state.lock();", passcode)
        for number in range(3):
            page.push(bisq.bisq1(key, bisq.message("TRADE", f"before the flood {number}")))
        page.run(
            """const store = await import("./store.js");
            const text = (number) => `BisqMessageAndroid|0123456789abcdef|${btoa(String(number).padEnd(16))}`;
            for (let from = 0; from < 1700; from += 100)
                await Promise.all(Array.from({length: 100}, (_, at) => store.keepLockedPush(
                    {digest: `d${from + at}`, text: text(from + at), received: Date.now(), isRead: false})));"""
        )
        equal(len(page.kept()), 1600)
        page.push(bisq.bisq1(key, bisq.message("TRADE", "behind the flood")))
        page.reload()
        page.type("input", passcode)
        page.tap("Unlock")
        page.says("before the lock", *[f"before the flood {number}" for number in range(3)], "behind the flood")
        page.says("Unread: 5", "Not kept: 105")
        equal(len(page.kept()), 5)
        page.reload()
        page.type("input", passcode)
        page.tap("Unlock")
        page.says("Unread: 5")
        assert "Not kept" not in page.text()


def a_forgotten_passcode_leads_to_pairing_anew(bench):
    with bench.page() as page:
        page.pair(key)
        page.run("const state = await import('./state.js'); await state.setPasscode(given[0]);", passcode)
        page.reload()
        page.tap("Passcode forgotten?")
        page.tap("Unpair this phone")
        page.tap("Turn on notifications")
        page.shown("#token")
        assert key not in page.token()


def the_report_holds_no_secret(bench):
    with bench.page() as page:
        token = page.pair(key)
        pictures.fill(page)
        page.go("#/report")
        report = page.run("return document.getElementById('report').textContent")
        subscription = bisq.opened_token(token.split("|")[3])
        for secret in (
            key,
            bench.vapid,
            subscription["endpoint"],
            subscription["endpoint"][45:60],
            "Anna",
            "jKxQ81",
            token.split("::")[1],
        ):
            assert secret not in report, secret
        assert "push service: updates.push.services.mozilla.com" in report and "notifications: 8" in report


def settings_do_what_they_say(bench):
    with bench.page() as page:
        page.pair(key)
        pictures.fill(page)
        page.go("#/settings")
        page.run("""const show = ServiceWorkerRegistration.prototype.showNotification;
            ServiceWorkerRegistration.prototype.showNotification = function (...given) {
                return window.shown = show.apply(this, given).then(() => true);
            };""")
        page.tap("Show a test notification")
        # As in push(): nothing may ask while it is being shown.
        until(lambda: page.run("return window.shown ?? false"), "the test notification to be shown")
        equal(page.notified("This is how a notification looks")["silent"], False)
        page.run("document.querySelector('[role=switch]').click()")
        kept = "return (await (await import('./store.js')).setting('preferences'))?.isSilent ?? false"
        until(lambda: page.run(kept), "the setting to be kept")
        page.push(bisq.bisq1(key, bisq.message("TRADE", "quiet")))
        equal(page.notified("quiet")["silent"], True)
        page.run(
            "const select = document.querySelector('select'); select.value = 'de'; select.dispatchEvent(new Event('change'))"
        )
        page.says("Einstellungen", "Mehrere Telefone")
        page.push(bisq.bisq1(key, bisq.message("SETUP_CONFIRMATION")))
        page.notified("Mit Bisq gekoppelt")
        page.tap("Adresse erneuern")
        page.says("Die Adresse ist aktuell.")
        page.tap("Alle Benachrichtigungen löschen")
        page.tap("Abbrechen")
        assert page.kept()
        page.tap("Alle Benachrichtigungen löschen")
        until(lambda: page.run("return document.querySelector('dialog[open] .danger') !== null"), "the question")
        page.tap("Alle Benachrichtigungen löschen")
        page.says("Alle Benachrichtigungen sind gelöscht.")
        equal((page.kept(), page.notifications()), ([], []))
        page.tap("Telefon entkoppeln")
        until(lambda: page.run("return document.querySelector('dialog[open] .danger') !== null"), "the question")
        page.tap("Telefon entkoppeln")
        page.says("Benachrichtigungen einschalten")
        equal(
            page.run(
                "return [localStorage.getItem('made-up subscription'), await (await import('./store.js')).setting('pairing') ?? null]"
            ),
            [None, None],
        )
        page.push(bisq.bisq1(key, bisq.message("TRADE", "too late")))
        page.notified("die dieses Telefon nicht öffnen kann")


def reading_and_deleting_are_kept(bench):
    with bench.page() as page:
        page.pair(key)
        pictures.fill(page)
        page.says("Unread: 4")
        page.run("[...document.querySelectorAll('.line')].find(one => one.innerText.includes('Anna')).click()")
        page.says("I have sent the payment.")
        page.go("#/")
        page.says("Unread: 3")
        page.tap("Mark all as read")
        until(lambda: "Unread" not in page.text(), "nothing unread")
        page.run("[...document.querySelectorAll('.line')].find(one => one.innerText.includes('Anna')).click()")
        page.tap("Delete")
        page.says("Payment received")
        page.reload()
        page.says("Payment received")
        assert "Anna" not in page.text() and "Unread" not in page.text()


def what_was_not_shown_is_neither_read_nor_settled(bench):
    """The worker keeps a push, or another address, a moment before the page draws it."""
    with bench.page() as page:
        page.pair(key)
        page.push(bisq.bisq1(key, bisq.message("TRADE", "shown")))
        page.says("Unread: 1")
        page.run(
            """const store = await import("./store.js");
            const notice = {kind: "TRADE", title: "not shown", message: ""};
            await store.keepPush({digest: "d", text: "t", received: Date.now(), isRead: false, notice});"""
        )
        page.tap("Mark all as read")
        page.says("not shown", "Unread: 1")
        page.go("#/pair")
        page.run(
            """const store = await import("./store.js");
            const moved = ({subscription, ...now}) => (
                {...now, subscription: {...subscription, endpoint: subscription.endpoint + "2"}, moved: 5});
            await store.changeSetting("pairing", moved);"""
        )
        page.tap("Done")
        until(lambda: page.run("return location.hash") == "#/", "the list")
        equal(page.run("return (await (await import('./store.js')).setting('pairing')).moved"), 5)


def with_three_hundred(page):
    page.pair(key)
    page.run(
        """const store = await import("./store.js");
        await Promise.all(Array.from({length: 300}, (_, at) => store.keepPush({digest: `d${at}`, text: "", received: Date.now() - 6e6 * (300 - at),
            isRead: true, notice: {kind: "TRADE", title: `Title ${at}`, message: "", tradeId: "", sentDate: 0}})))"""
    )
    page.reload()
    page.says("Title 299")


def to_the_end(page):
    page.run("scrollTo(0, 1e9)")
    return page.run("return document.querySelector('.more') === null")


def who_reads_far_down_stays_there_when_something_comes(bench):
    with bench.page() as page:
        with_three_hundred(page)
        until(lambda: to_the_end(page), "the end of the list")
        before = page.run("scrollTo(0, 9000); await new Promise(requestAnimationFrame); return scrollY")
        page.push(bisq.bisq1(key, bisq.message("TRADE", "just now")))
        until(lambda: "just now" in page.run("return document.body.textContent"), "the new one")
        after = page.run("return scrollY")
        assert before == 9000 and abs(after - before) < 400, (before, after)


def an_end_that_went_and_came_while_the_page_was_busy_is_drawn(bench):
    with bench.page() as page:
        # A busy page hears of several changes at once, the last one last.
        page.command(
            "Page.addScriptToEvaluateOnNewDocument",
            {
                "source": """window.IntersectionObserver = class extends IntersectionObserver {
                    constructor(use, options) {
                        super((changes) => use([{ isIntersecting: false }, ...changes]), options);
                    }
                }"""
            },
        )
        with_three_hundred(page)
        until(lambda: to_the_end(page), "the end of the list")


checks = [
    every_screen_is_accessible_in_light_and_dark,
    nothing_is_cut_on_a_small_phone_in_any_language,
    the_keyboard_reaches_everything,
    a_passcode_seals_the_key_and_what_comes,
    a_push_is_kept_as_the_pairing_of_that_moment_wants_it,
    what_the_worker_notes_while_a_passcode_is_set_stays,
    what_another_window_locks_is_locked_here_too,
    a_form_that_fails_says_so_and_can_be_sent_again,
    what_came_while_locked_is_honoured_on_unlock,
    an_erase_that_came_while_locked_has_to_be_true_too,
    a_flood_on_a_locked_page_pushes_out_nothing_that_came_before,
    a_forgotten_passcode_leads_to_pairing_anew,
    the_report_holds_no_secret,
    settings_do_what_they_say,
    reading_and_deleting_are_kept,
    what_was_not_shown_is_neither_read_nor_settled,
    who_reads_far_down_stays_there_when_something_comes,
    an_end_that_went_and_came_while_the_page_was_busy_is_drawn,
]
