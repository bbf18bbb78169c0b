"""The page's worker, storage and texts in Chromium, where the worker can be tested alone."""

import json
import time
from pathlib import Path

import bisq
from bench import key
from checks import equal, until

vectors = json.loads((Path(__file__).parent / "../Vectors/web-push-vectors.json").read_text())["cases"]


def cases(kind):
    found = [case for case in vectors if case["kind"] == kind]
    assert found, kind
    return found


def tokens_are_those_of_the_vectors(bench):
    with bench.page() as page:
        for case in cases("text"):
            subscription = {name: case[name] for name in ("endpoint", "p256dh", "auth")}
            equal(page.run("return (await import('./pairing.js')).tokenOf(given[0])", subscription), case["text"])
        for case in cases("pairing"):
            if not case["web_push"]:
                continue
            subscription = {name: case[name] for name in ("endpoint", "p256dh", "auth")}
            made = page.run("return (await import('./pairing.js')).pairingToken(given[0], given[1])", subscription, case["key"])
            equal(made.split("|")[2:], case["pairing_token"].split("|")[2:])
        keys = page.run("const {newKey} = await import('./pairing.js'); return Array.from({length: 200}, newKey)")
        assert len(set(keys)) == 200 and all(len(made) == 32 and "|" not in made for made in keys)


def keys_are_judged_as_the_vectors_say(bench):
    with bench.page() as page:
        for case in cases("keys"):
            script = """const {isPoint, tokenOf} = await import("./pairing.js");
                try { tokenOf({endpoint: "https://a.io/b", ...given[0]}); } catch { return false; }
                return isPoint(given[0].p256dh);"""
            found = page.run(script, {"p256dh": case["p256dh"], "auth": case["auth"]})
            assert found == case["valid"], case["name"]
        for case in cases("vapid-key"):
            equal(page.run("return (await (await import('./pairing.js')).keysIn(given[0])).vapidKey", case["public"]), case["public"])


def messages_are_shown_and_kept_as_the_vectors_say(bench):
    with bench.page() as page:
        page.pair(key)
        for case in cases("message"):
            page.run("""const store = await import("./store.js");
                await store.erasePushes();
                await store.changeSetting("pairing", (now) => ({...now, key: given[0]}));""", case["key"])
            page.close_notifications()
            page.push(case["push"])
            shown = page.notified()
            assert shown["title"] and shown["body"], case["name"]
            for text in case["shows"]:
                assert text[:200] in f"{shown['title']}\n{shown['body']}", (case["name"], shown)
            equal((case["name"], len(page.kept())), (case["name"], 1 if case["list"] == "add" else 0))


def markup_in_a_message_stays_text(bench):
    with bench.page() as page:
        page.pair(key)
        page.push(bisq.bisq1(key, bisq.message("TRADE", "<img src=x onerror=\"document.title='taken'\">", "</li><b id=bad>x</b>")))
        page.notified("<img")
        page.go("#/")
        page.says("<img src=x onerror", "</li><b id=bad>")
        page.run("document.querySelector('.line').click()")
        page.says("</li><b id=bad>")
        assert page.run("return document.getElementById('bad') === null && document.title !== 'taken'")


def erase_empties_the_list(bench):
    with bench.page() as page:
        page.pair(key)
        page.push(bisq.bisq1(key, bisq.message("TRADE", "old")))
        page.notified("old")
        page.push(bisq.bisq1(key, bisq.message("ERASE")))
        page.notified("Erased")
        until(lambda: len(page.notifications()) == 1, "the older notification to go")
        equal(page.kept(), [])
        page.go("#/")
        page.says("No notifications yet")


def every_garbage_shows_a_notification(bench):
    with bench.page() as page:
        page.pair(key)
        for garbage in ["", " ", "null", "|||", "BisqMessageAndroid||", "A" * 9000, "\u0000", "OnionbellNotice|", "OnionbellNotice|7",
                        bisq.bisq1(key, b"[1]"), bisq.bisq1(key, b"null"), bisq.bisq2("x" * 32, {"title": "other key"}),
                        bisq.bisq1(key, b'{"title":' + b"[" * 2000)]:
            page.close_notifications()
            page.push(garbage)
            page.notified("can't open")
        equal(page.kept(), [])


def texts_of_any_type_and_length_are_bounded(bench):
    with bench.page() as page:
        page.pair(key)
        strange = {"title": {"a": 1}, "message": 7, "type": "constructor", "sentDate": "yesterday", "txId": None}
        page.push(bisq.bisq1(key, strange))
        page.notified("Bisq")
        page.push(bisq.bisq1(key, bisq.message("TRADE", "t" * 3000, "\u202egnp.exe\u0007 right")))
        shown = page.notified("gnp.exe right")
        equal(len(shown["title"]), 200)
        page.push(bisq.bisq2(key, {"title": "two", "message": "m", "category": "toString"}))
        page.notified("two")
        page.go("#/")
        page.says("two", "gnp.exe right")


def ten_thousand_notifications_leave_the_newest_thousand(bench):
    with bench.page() as page:
        page.pair(key)
        page.run("""const store = await import("./store.js");
            const keep = (number) => store.keepPush({digest: `d${number}`, text: "x".repeat(500), received: Date.now() - 3600000 * (given[0] - number),
                isRead: false, notice: {kind: "TRADE", title: `Title ${number}`, message: "m", tradeId: "", sentDate: 0}});
            for (let from = 0; from < given[0]; from += 500)
                await Promise.all(Array.from({length: 500}, (_, at) => keep(from + at)));""", bench.flood)
        page.push(bisq.bisq1(key, bisq.message("TRADE", "the newest")))
        page.notified("the newest")
        kept = page.kept()
        equal(len(kept), 1000)
        equal(kept[0]["notice"]["title"], f"Title {bench.flood - 999}")
        begin = time.monotonic()
        page.reload()
        page.says("the newest", "Unread: 1000")
        assert page.run("return document.querySelectorAll('.line').length") <= 150
        page.run("while (document.querySelector('.more')) { scrollTo(0, 1e9); await new Promise(requestAnimationFrame); }")
        equal(page.run("return document.querySelectorAll('.line').length"), 1000)
        drawing = page.run("""const begin = performance.now();
            (await import("./screens/list.js")).listScreen({}); return performance.now() - begin""")
        print(f"   all listed after {time.monotonic() - begin:.1f} s; the list drawn again in {drawing:.0f} ms")


def a_full_storage_lets_the_oldest_half_go(bench):
    """Made up here by one failing call; with a real limit it is tried in Firefox."""
    with bench.page() as page:
        page.pair(key)
        titles = page.run("""const store = await import("./store.js");
            const keep = (title) => store.keepPush({digest: title, text: "", received: 1, isRead: false,
                notice: {kind: "TRADE", title, message: "", tradeId: "", sentDate: 0}});
            for (let number = 0; number < 10; number++) await keep(`old ${number}`);
            const add = IDBObjectStore.prototype.add;
            IDBObjectStore.prototype.add = () => {
                IDBObjectStore.prototype.add = add;
                throw new DOMException("made up", "QuotaExceededError");
            };
            await keep("new");
            return (await store.allPushes()).map(push => push.notice.title)""")
        equal(titles, [f"old {number}" for number in range(5, 10)] + ["new"])


def what_can_not_be_kept_is_shown_and_says_so(bench):
    with bench.page() as page:
        page.pair(key)
        page.push("wakes the worker")
        page.in_worker("IDBObjectStore.prototype.add = () => { throw new DOMException('made up', 'QuotaExceededError'); }")
        page.push(bisq.bisq1(key, bisq.message("TRADE", "no room", "at all")))
        page.notified("no room", "at all", "It could not be kept")
        equal(page.kept(), [])


def a_storage_that_never_answers_does_not_silence_a_push(bench):
    with bench.page() as page:
        page.pair(key)
        page.run("""const opening = indexedDB.open("onionbell");
            const database = await new Promise(done => opening.onsuccess = () => done(opening.result));
            const settings = database.transaction(["settings", "pushes"], "readwrite").objectStore("settings");
            const hold = () => settings.get("x").onsuccess = hold;
            hold();""")
        page.push(bisq.bisq1(key, bisq.message("TRADE", "stuck")))
        page.run("return 0")
        until(lambda: page.notifications(), "a notification", 20)


def a_clock_far_off_leaves_order_and_days_sensible(bench):
    with bench.page() as page:
        page.pair(key)
        for number, sent in enumerate([0, 1, -5, 253402300799999, 8.64e15, 9e15, 1e300, "x"]):
            page.push(bisq.bisq1(key, bisq.message("TRADE", f"number {number}", "", sent=sent)))
            page.notified(f"number {number}")
        page.run("""const store = await import("./store.js");
            await store.keepPush({digest: "future", text: "", received: Date.now() + 40 * 365 * 864e5, isRead: true,
                notice: {kind: "TRADE", title: "by a wrong clock", message: "", tradeId: "", sentDate: 0}})""")
        page.go("#/")
        page.reload()
        page.says("by a wrong clock", "number 0", "number 7", "Today")
        titles = page.run("return [...document.querySelectorAll('.line strong')].map(one => one.textContent)")
        equal(titles[1:], [f"number {number}" for number in reversed(range(8))])
        page.run("document.querySelector('.line').click()")
        page.says("Received")


def a_lost_worker_comes_back_and_the_user_is_told(bench):
    with bench.page() as page:
        page.pair(key)
        before = page.run("return (await (await import('./store.js')).setting('pairing')).subscription.endpoint")
        page.run("""for (const registration of await navigator.serviceWorker.getRegistrations()) await registration.unregister();
            for (const name of await caches.keys()) await caches.delete(name);
            localStorage.removeItem("made-up subscription");""")
        page.reload()
        page.says("This phone has a new address")
        after = page.run("return (await (await import('./store.js')).setting('pairing')).subscription.endpoint")
        assert before != after
        page.push(bisq.bisq1(key, bisq.message("TRADE", "back again")))
        page.notified("back again")


def without_network_everything_opens(bench):
    with bench.page() as page:
        page.pair(key)
        page.push(bisq.bisq1(key, bisq.message("TRADE", "kept here")))
        page.notified("kept here")
        bench.host.stop()
        try:
            page.reload()
            page.says("kept here")
            page.go("#/settings")
            page.says("Push service")
            page.push(bisq.bisq1(key, bisq.message("TRADE", "still rings")))
            page.notified("still rings")
        finally:
            bench.host.start()


def a_new_version_takes_the_place_of_the_old_one(bench):
    folder = bench.host.folder / "some/path"
    deployed = folder / "deployed.js"
    before = deployed.read_text()
    with bench.page() as page:
        page.pair(key)
        old = page.run("return caches.keys()")
        try:
            deployed.write_text(before.replace('version = "', 'version = "next'))
            page.run("await (await navigator.serviceWorker.ready).update()")
            until(lambda: page.run("return caches.keys()") not in (old, []) and len(page.run("return caches.keys()")) == 1, "the new cache alone")
            page.reload()
            page.go("#/settings")
            page.says("Version next")
        finally:
            deployed.write_text(before)


def the_page_can_be_installed(bench):
    with bench.page() as page:
        manifest = page.command("Page.getAppManifest")
        equal(manifest["errors"], [])
        found = json.loads(manifest["data"])
        equal((found["display"], found["start_url"], found["scope"]), ("standalone", "./", "./"))
        page.run("await navigator.serviceWorker.ready")
        errors = page.command("Page.getInstallabilityErrors")["installabilityErrors"]
        # A context of its own counts as incognito, which is the only thing against it.
        equal([error["errorId"] for error in errors if error["errorId"] != "in-incognito"], [])
        for entry in found["icons"]:
            assert (bench.host.folder / "some/path" / entry["src"]).is_file()


def policy_refuses_inline_code_markup_and_other_hosts(bench):
    with bench.page() as page:
        page.run("""window.violated = [];
            addEventListener("securitypolicyviolation", (event) => violated.push(event.effectiveDirective));
            const script = document.createElement("script");
            try { script.textContent = "window.ran = 1"; document.body.append(script); } catch {}
            const image = document.createElement("img");
            image.src = "https://example.invalid/x.png";
            document.body.append(image);
            await fetch("https://example.invalid/").catch(() => {});
            await new Promise(done => setTimeout(done, 100));""")
        refused = page.run("return violated")
        assert "connect-src" in refused and "img-src" in refused and page.run("return window.ran === undefined"), refused
        for forbidden in ("document.body.innerHTML = '<p>'", "navigator.serviceWorker.register('app.js')"):
            failure = page.run(f"try {{ await ({forbidden}); return '' }} catch (error) {{ return error.message }}")
            assert "Trusted" in failure or "trusted" in failure, failure


def no_request_leaves_the_pages_own_folder(bench):
    with bench.page() as page:
        page.pair(key)
        for fragment in ("#/", "#/settings", "#/phone", "#/report", "#/pair"):
            page.go(fragment)
        page.push(bisq.bisq1(key, bisq.message("TRADE", "http://example.invalid/")))
        page.notified("example.invalid")
        urls = [event["request"]["url"] for event in page.events("Network.requestWillBeSent")]
        foreign = [url for url in urls if not url.startswith(bench.url) and not url.startswith("about:")]
        equal(foreign, [])
        violations = [event["entry"]["text"] for event in page.events("Log.entryAdded") if event["entry"]["level"] == "error"]
        equal(violations, [])


checks = [
    tokens_are_those_of_the_vectors,
    keys_are_judged_as_the_vectors_say,
    messages_are_shown_and_kept_as_the_vectors_say,
    markup_in_a_message_stays_text,
    erase_empties_the_list,
    every_garbage_shows_a_notification,
    texts_of_any_type_and_length_are_bounded,
    ten_thousand_notifications_leave_the_newest_thousand,
    a_full_storage_lets_the_oldest_half_go,
    what_can_not_be_kept_is_shown_and_says_so,
    a_storage_that_never_answers_does_not_silence_a_push,
    a_clock_far_off_leaves_order_and_days_sensible,
    a_lost_worker_comes_back_and_the_user_is_told,
    without_network_everything_opens,
    a_new_version_takes_the_place_of_the_old_one,
    the_page_can_be_installed,
    policy_refuses_inline_code_markup_and_other_hosts,
    no_request_leaves_the_pages_own_folder,
]
