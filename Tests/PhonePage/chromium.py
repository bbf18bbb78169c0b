"""Chromium without a window, driven by DevTools over two pipes: JSON with a zero byte behind it."""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import checks

# Chromium can't subscribe without Google, so the page gets made-up subscriptions. The y of `odd` is odd: a lost sign
# shows. They live as long as the browser's own would.
stand_in = """
(() => {
    const odd = {p256dh: "BCOl6S6K4Nsu1MvZTd1H3h4ZoZ6ZHWB59UI9-9W_RtprhzRyOT_9t9NhaU16lKAyEl78DWVTFOKhpgfq_kA-lC4"};
    const keys = {p256dh: "BL5fxnHrdSkDHYeWmuiXREHaM-h_0xjRetXego8OTzzcndGnoBpX_3Tw722n92OhsdSTuqv3rtqJOtjhEXykDCg",
                  auth: "_KR2sP79J16hbekKFEkcoA"};
    const made = () => {
        const kept = localStorage.getItem("made-up subscription");
        return kept && {toJSON: () => ({endpoint: kept, expirationTime: null, keys: {...keys, ...(kept.includes("odd") ? odd : {})}}),
            unsubscribe: async () => { localStorage.removeItem("made-up subscription"); return true; }};
    };
    PushManager.prototype.getSubscription = async () => made();
    PushManager.prototype.subscribe = async (options) => {
        if (localStorage.getItem("subscribe fails")) throw new DOMException("made up", localStorage.getItem("subscribe fails"));
        if (!options.userVisibleOnly || options.applicationServerKey.length !== 65) throw new TypeError("made up: no VAPID key");
        const number = Number(localStorage.getItem("made-up number") ?? 0) + 1;
        localStorage.setItem("made-up number", number);
        if (!made()) localStorage.setItem("made-up subscription", `https://updates.push.services.mozilla.com/wpush/v2/odd${number}_` + "g".repeat(175));
        return made();
    };
})();
"""


class Chromium:
    def __init__(self, language="en"):
        self.profile = Path(tempfile.mkdtemp())
        commands, self.writer = os.pipe()
        self.reader, answers = os.pipe()
        arguments = [
            "/usr/bin/chromium",
            "--headless",
            "--disable-gpu",
            "--remote-debugging-pipe",
            f"--user-data-dir={self.profile}",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-extensions",
            "--hide-scrollbars",
            f"--lang={language}",
            f"--accept-lang={language}",
            "--force-color-profile=srgb",
        ]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        # The browser reads from 3 and writes to 4.
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "-"] + arguments,
            pass_fds=(commands, answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(commands)
        os.close(answers)
        self.buffer = b""
        self.identifier = 0
        self.events = []

    def read(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.reader], [], [], max(0, deadline - time.monotonic()))
            assert ready, "Chromium does not answer"
            data = os.read(self.reader, 1 << 20)
            assert data, "Chromium has gone"
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def command(self, name, parameters=None, session=None, seconds=checks.hung):
        self.identifier += 1
        request = {"id": self.identifier, "method": name, "params": parameters or {}}
        if session:
            request["sessionId"] = session
        os.write(self.writer, json.dumps(request).encode() + b"\0")
        deadline = time.monotonic() + seconds
        while True:
            answer = self.read(deadline)
            if answer.get("id") == self.identifier:
                assert "error" not in answer, f"{name}: {answer.get('error')}"
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def stop(self):
        try:
            self.command("Browser.close", seconds=5)
            self.process.wait(10)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            pass
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.reader)
        os.close(self.writer)
        shutil.rmtree(self.profile, ignore_errors=True)


class Page:
    """One tab in a browser context of its own: a storage of its own, as an app on a home screen has."""

    def __init__(self, browser, origin, width=390, height=844):
        self.browser = browser
        self.origin = origin
        self.context = browser.command("Target.createBrowserContext")
        self.allow("granted")
        target = browser.command("Target.createTarget", {"url": "about:blank"} | self.context)["targetId"]
        self.session = browser.command("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "ServiceWorker", "Network", "Log"):
            self.command(f"{domain}.enable")
        self.command("Page.addScriptToEvaluateOnNewDocument", {"source": stand_in})
        self.size(width, height)

    def command(self, name, parameters=None, seconds=checks.hung):
        return self.browser.command(name, parameters, self.session, seconds)

    def allow(self, setting):
        self.browser.command(
            "Browser.setPermission",
            {"permission": {"name": "notifications"}, "setting": setting, "origin": self.origin} | self.context,
        )

    def size(self, width, height):
        self.command(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": True},
        )

    def appearance(self, scheme):
        self.command("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def settle(self):
        """Waits until nothing fades or moves, but for what never ends."""
        self.run("""await new Promise(requestAnimationFrame);
            await Promise.allSettled(document.getAnimations()
                .filter(one => one.effect.getComputedTiming().endTime !== Infinity).map(one => one.finished))""")

    def open(self, url):
        self.command("Page.navigate", {"url": url})
        self.run("if (document.readyState !== 'complete') await new Promise(done => addEventListener('load', done))")

    def run(self, script, *arguments):
        """Runs the body of an async function in the page, as after a tap, and gives its value."""
        expression = f"(async (...given) => {{ {script} }})(...{json.dumps(arguments)})"
        result = self.command(
            "Runtime.evaluate",
            {"expression": expression, "awaitPromise": True, "returnByValue": True, "userGesture": True},
        )
        assert "exceptionDetails" not in result, (
            result.get("exceptionDetails", {}).get("exception", {}).get("description", result)
        )
        return result["result"].get("value")

    def picture(self, path):
        data = self.command("Page.captureScreenshot", {"format": "png"})["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def events(self, method):
        self.command("Runtime.evaluate", {"expression": "0"})
        return [
            event["params"]
            for event in self.browser.events
            if event["method"] == method and event.get("sessionId") == self.session
        ]

    def close(self):
        self.browser.command("Target.disposeBrowserContext", self.context)
