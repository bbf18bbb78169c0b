"""The page at its host: offline, a new version, a lost worker, installing, and whom it may talk to."""

import json
import shutil

import bisq
from bench import key
from checks import equal, until


def a_lost_worker_comes_back_and_the_user_is_told(bench):
    with bench.page() as page:
        page.pair(key)
        before = page.run("return (await (await import('./store.js')).setting('pairing')).subscription.endpoint")
        page.run(
            """for (const registration of await navigator.serviceWorker.getRegistrations()) await registration.unregister();
            for (const name of await caches.keys()) await caches.delete(name);
            localStorage.removeItem("made-up subscription");"""
        )
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
            until(
                lambda: page.run("return caches.keys()") not in (old, [])
                and len(page.run("return caches.keys()")) == 1,
                "the new cache alone",
            )
            page.reload()
            page.go("#/settings")
            page.says("Version next")
        finally:
            deployed.write_text(before)


def two_pages_on_one_host_share_nothing(bench):
    """The second lies below the first one's path, where the first one's worker could answer for it."""
    first = bench.host.folder / "some/path"
    second = first / "below"
    shutil.copytree(first, second)
    (second / "deployed.js").write_text((first / "deployed.js").read_text().replace('version = "', 'version = "below'))
    try:
        with bench.page() as page:
            page.pair(key)
            page.open("about:blank")
            page.open(f"{bench.url}below/")
            page.says("Turn on notifications")
            page.run("await navigator.serviceWorker.ready")
            until(lambda: page.run("return (await caches.keys()).length") == 2, "a cache for each")
            page.reload()
            page.go("#/pair")
            assert key in page.token()
    finally:
        shutil.rmtree(second)


def a_worker_that_can_not_start_leaves_a_page_that_says_so(bench):
    with bench.page() as page:
        page.command(
            "Page.addScriptToEvaluateOnNewDocument",
            {
                "source": """
            ServiceWorkerContainer.prototype.register = async () => { throw new TypeError("no module workers here"); }"""
            },
        )
        page.open("about:blank")
        page.open(f"{bench.url}#k={bench.vapid}")
        page.tap("Turn on notifications")
        page.says("no module workers here")


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
            await fetch("https://example.invalid/").catch(() => {});""")
        until(lambda: {"connect-src", "img-src"} <= set(page.run("return violated")), "the refusals")
        assert page.run("return window.ran === undefined")
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
        violations = [
            event["entry"]["text"] for event in page.events("Log.entryAdded") if event["entry"]["level"] == "error"
        ]
        equal(violations, [])


checks = [
    a_lost_worker_comes_back_and_the_user_is_told,
    without_network_everything_opens,
    a_new_version_takes_the_place_of_the_old_one,
    two_pages_on_one_host_share_nothing,
    a_worker_that_can_not_start_leaves_a_page_that_says_so,
    the_page_can_be_installed,
    policy_refuses_inline_code_markup_and_other_hosts,
    no_request_leaves_the_pages_own_folder,
]
