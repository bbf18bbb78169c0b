"""Firefox without a window, driven by Marionette: JSON with a length before it, over TCP."""

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import checks
from checks import until

preferences = {
    "dom.push.testing.allowInsecureServerURL": True,
    "dom.push.connection.enabled": True,
    "dom.push.retryBaseInterval": 200,
    "dom.push.requestTimeout": checks.hung * 1000,
    "dom.serviceWorkers.idle_extended_timeout": checks.hung * 1000,
    "remote.prefs.recommended": False,
    "alerts.useSystemBackend": False,
    "marionette.port": 0,
    "network.proxy.type": 0,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "browser.aboutwelcome.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.server": "",
    "app.update.enabled": False,
    "app.normandy.enabled": False,
    "extensions.update.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "services.settings.server": "data:,",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "intl.accept_languages": "en-US",
    "security.notification_enable_delay": 0,
}


class Firefox:
    def __init__(self, push_service, **more):
        """push_service: the URL of a push service for browsers, ws://..."""
        self.profile = Path(tempfile.mkdtemp())
        values = preferences | {"dom.push.serverURL": push_service} | more
        (self.profile / "user.js").write_text(
            "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in values.items())
        )
        self.start()

    def start(self):
        port_file = self.profile / "MarionetteActivePort"
        port_file.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [
                "firefox-esr",
                "--headless",
                "--no-remote",
                "--marionette",
                "--remote-allow-system-access",
                "--profile",
                self.profile,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=os.environ | {"MOZ_CRASHREPORTER_DISABLE": "1", "HOME": str(self.profile)},
        )
        port = until(lambda: port_file.exists() and port_file.read_text().strip(), "Firefox's Marionette port")
        self.socket = socket.create_connection(("127.0.0.1", int(port)), timeout=checks.hung)
        self.stream = self.socket.makefile("rwb")
        self.read()  # its greeting
        self.identifier = 0
        self.present = None
        self.command("WebDriver:NewSession", {})
        self.first = self.command("WebDriver:GetWindowHandle")["value"]
        self.command("WebDriver:SetTimeouts", {"script": checks.hung * 1000, "pageLoad": checks.hung * 1000})

    def read(self):
        length = b""
        while not length.endswith(b":"):
            byte = self.stream.read(1)
            assert byte, "Firefox has gone"
            length += byte
        return json.loads(self.stream.read(int(length[:-1])))

    def command(self, name, parameters=None):
        self.identifier += 1
        text = json.dumps([0, self.identifier, name, parameters or {}]).encode()
        self.stream.write(str(len(text)).encode() + b":" + text)
        self.stream.flush()
        _, _, error, result = self.read()
        assert error is None, f"{name}: {error['error']}: {error['message']}"
        return result

    def open(self, url):
        self.command("WebDriver:Navigate", {"url": url})

    def run(self, script, *arguments):
        """Runs the body of an async function in the page and gives its value."""
        body = f"""const done = arguments[arguments.length - 1];
            (async (...given) => {{ {script} }})(...arguments).then(value => done({{value}}), error => done({{error: `${{error.name}}: ${{error.message}}`}}));"""
        result = self.command(
            "WebDriver:ExecuteAsyncScript", {"script": body, "args": list(arguments), "newSandbox": False}
        )["value"]
        if result is None:
            return None  # another document has come amid it
        assert "error" not in result, result.get("error")
        return result.get("value")

    def window(self, context):
        """Opens a window whose page has a storage of its own, by a number; its handle."""
        handles = lambda: set(self.command("WebDriver:GetWindowHandles"))
        self.use(self.first)
        self.use(self.command("WebDriver:NewWindow", {"type": "window", "focus": False})["handle"])
        before = handles()
        self.in_chrome(
            """const first = gBrowser.selectedTab;
            const triggeringPrincipal = Services.scriptSecurityManager.getSystemPrincipal();
            gBrowser.selectedTab = gBrowser.addTab("about:blank", { userContextId: arguments[0], triggeringPrincipal });
            gBrowser.removeTab(first);""",
            context,
        )
        handle = until(lambda: handles() - before, "the window").pop()
        self.use(handle)
        return handle

    def use(self, handle):
        """From now on commands are for this window."""
        if handle != self.present:
            self.command("WebDriver:SwitchToWindow", {"handle": handle, "focus": True})
            self.present = handle

    def close(self, context):
        """Closes the window that is used, and forgets what its page has stored."""
        self.in_chrome("Services.clearData.deleteDataFromOriginAttributesPattern({ userContextId: arguments[0] })", context)
        self.command("WebDriver:CloseWindow")
        self.use(self.first)

    def in_chrome(self, script, *arguments):
        self.command("Marionette:SetContext", {"value": "chrome"})
        try:
            return self.command("WebDriver:ExecuteScript", {"script": script, "args": list(arguments)})["value"]
        finally:
            self.command("Marionette:SetContext", {"value": "content"})

    def click(self, text):
        """A real click on the button, link or row with this text."""
        xpath = f'//*[self::button or self::a or self::summary][normalize-space()="{text}"]'

        def clicked():
            found = self.command("WebDriver:FindElements", {"using": "xpath", "value": xpath})
            if not found:
                return False
            try:
                self.command("WebDriver:ElementClick", {"id": next(iter(found[0].values()))})
            except AssertionError as error:
                # The page has drawn itself anew since it was found.
                if "stale element reference" not in str(error):
                    raise
                return False
            return True

        until(clicked, f"a button {text!r}")

    def allow(self, origin, answer):
        """`allow`, `deny` or `prompt` for notifications."""
        number = {"allow": "ALLOW_ACTION", "deny": "DENY_ACTION", "prompt": "UNKNOWN_ACTION"}[answer]
        self.in_chrome(
            f"""Services.perms.addFromPrincipal(
            Services.scriptSecurityManager.createContentPrincipalFromOrigin(arguments[0]),
            "desktop-notification", Services.perms.{number});""",
            origin,
        )

    def picture(self, path):
        Path(path).write_bytes(base64.b64decode(self.command("WebDriver:TakeScreenshot", {"full": False})["value"]))

    def stop(self, keeps_profile=False):
        try:
            self.socket.settimeout(20)
            self.command("Marionette:Quit", {"flags": ["eForceQuit"]})
            self.process.wait(20)
        except (AssertionError, OSError, ValueError, subprocess.TimeoutExpired):
            pass
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if not keeps_profile:
            shutil.rmtree(self.profile, ignore_errors=True)


class PageInFirefox:
    """What the checks do with the page in `self.firefox`."""

    def notifications(self):
        return self.firefox.run("""const registration = await navigator.serviceWorker.ready;
            return (await registration.getNotifications()).map(({title, body, tag}) => ({title, body, tag}))""")

    def shows(self, *texts):
        """Waits for a notification with all these texts."""
        return until(
            lambda: [
                shown
                for shown in self.notifications()
                if all(text in f"{shown['title']}\n{shown['body']}" for text in texts)
            ],
            f"a notification with {texts}",
        )

    def close_notifications(self):
        self.firefox.run("""const registration = await navigator.serviceWorker.ready;
            for (const notification of await registration.getNotifications()) notification.close()""")
        until(lambda: not self.notifications(), "no notification")

    def text(self):
        return self.firefox.run("return document.body.innerText")

    def listed(self, *texts):
        return until(lambda: all(text in self.text() for text in texts), f"{texts} on the page")

    def go(self, fragment):
        self.firefox.run("location.hash = given[0]", fragment)

    def token_shown(self):
        return self.firefox.run("return document.getElementById('token')?.textContent")

    def token_after_yes(self):
        """Says yes to the browser's own question, again while it asks; the pairing token that the page then shows."""

        def asked():
            self.firefox.in_chrome("""
            const panel = window.PopupNotifications.panel;
            if (panel.state === "open") panel.firstElementChild?.button.click();""")
            return self.token_shown()

        return until(asked, "the token after Firefox's question")
