"""What the checks in Chromium share: pages in storages of their own, and pushes to their workers."""

import os

import bisq
from checks import until
from chromium import Chromium, Page
from host import Host

# Under a path, as any static host may have it.
path = "/some/path/"
key = "Dk9erQ51RUOo8bV1IvaGpE99prQKLUdS"


class Bench:
    """Serves a folder that holds the page at `path`, to one Chromium."""

    def __init__(self, folder, browser=None):
        self.host = Host(folder)
        self.browser = browser or Chromium()
        self.is_owner = browser is None
        self.url = f"{self.host.origin}{path}"
        self.vapid = bisq.vapid_key()
        self.flood = 10_000 if os.environ.get("TEST_LONG") else 2_500  # notifications

    def stop(self):
        self.host.stop()
        if self.is_owner:
            self.browser.stop()

    def page(self, fragment="", **options):
        return Phone(self, fragment, **options)


class Phone(Page):
    """A phone with the page open. As a context it closes itself."""

    def __init__(self, bench, fragment="", **options):
        super().__init__(bench.browser, bench.host.origin, **options)
        self.bench = bench
        self.open(f"{bench.url}{fragment}")
        self.shown("h1")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def text(self):
        return self.run("return document.body.innerText")

    def shown(self, selector):
        return until(lambda: self.run("return document.querySelector(given[0]) !== null", selector), selector)

    def says(self, *texts):
        # What is said for four seconds counts afterwards too.
        said = lambda: self.run("return document.body.innerText + (document.getElementById('toast')?.textContent ?? '')")

        def are_there():
            now = said()
            return all(text in now for text in texts)

        return until(are_there, lambda: f"{texts} on the page: {said()[:300]!r}")

    def tap(self, text):
        """A tap on the button, link or row with this text."""
        return until(
            lambda: self.run(
                """
            const named = [...document.querySelectorAll("button, a, summary")].filter(one => one.innerText?.trim() === given[0]
                && (!one.closest("dialog") || one.closest("dialog").open));
            const found = named.find(one => one.closest("dialog")) ?? named[0];
            if (!found || found.disabled) return false;
            found.click();
            return true;""",
                text,
            ),
            f"a button {text!r}",
        )

    def type(self, selector, text):
        self.shown(selector)
        self.run("document.querySelector(given[0]).value = given[1]", selector, text)

    def go(self, fragment):
        self.run("location.hash = given[0]; await new Promise(done => setTimeout(done, 0))", fragment)

    def pair(self, pairing_key=None):
        """Pairs as a user does; with a key its place is taken by a known one."""
        self.open("about:blank")
        self.open(f"{self.bench.url}#k={self.bench.vapid}")
        self.tap("Turn on notifications")
        self.shown("#token")
        token = self.token()
        if pairing_key:
            token = token.replace(token.split("|")[2], pairing_key)
            self.run(
                """const store = await import("./store.js");
                await store.changeSetting("pairing", (now) => ({...now, key: given[0]}));""",
                pairing_key,
            )
            self.reload()
        return token

    def token(self):
        return self.run("return document.getElementById('token')?.textContent")

    def reload(self):
        self.open("about:blank")
        self.open(self.bench.url)
        self.shown("h1")

    def push(self, text, seconds=None):
        """Gives the worker a push as the browser does once it has decrypted it, and waits until it has shown it.

        Chromium drops a notification that is asked for while it is being shown, so nothing may ask before that.
        """
        registration = until(self.registration, "the worker's registration")
        before = self.run(
            """window.changes ??= {count: 0, channel: new BroadcastChannel((await import("./store.js")).place)};
            changes.channel.onmessage = () => changes.count++;
            return changes.count"""
        )
        self.command(
            "ServiceWorker.deliverPushMessage", {"origin": self.origin, "registrationId": registration, "data": text}
        )
        until(lambda: self.run("return changes.count") > before, "the worker to show the push", seconds)

    def in_worker(self, script):
        """Runs a script in the worker, which has to run already."""
        targets = self.browser.command("Target.getTargets")["targetInfos"]
        worker = next(
            target["targetId"]
            for target in targets
            if target["type"] == "service_worker" and target["browserContextId"] == self.context["browserContextId"]
        )
        session = self.browser.command("Target.attachToTarget", {"targetId": worker, "flatten": True})["sessionId"]
        self.browser.command("Runtime.evaluate", {"expression": script}, session)

    def registration(self):
        """The id that DevTools has given the worker's registration."""
        found = [
            registration["registrationId"]
            for event in self.events("ServiceWorker.workerRegistrationUpdated")
            for registration in event["registrations"]
            if registration["scopeURL"] == self.bench.url and not registration["isDeleted"]
        ]
        return found[-1] if found else None

    def notifications(self):
        return self.run(
            """const registration = await navigator.serviceWorker.ready;
            return (await registration.getNotifications()).map(({title, body, tag, silent}) => ({title, body, tag, silent}))"""
        )

    def notified(self, *texts):
        return until(
            lambda: [
                shown
                for shown in self.notifications()
                if all(text in f"{shown['title']}\n{shown['body']}" for text in texts)
            ],
            f"a notification with {texts}",
        )[0]

    def close_notifications(self):
        self.run("""const registration = await navigator.serviceWorker.ready;
            for (const notification of await registration.getNotifications()) notification.close()""")
        until(lambda: not self.notifications(), "no notification")

    def kept(self):
        return self.run("""return (await (await import("./store.js")).allPushes())""")
