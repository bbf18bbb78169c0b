"""A node with a console, whose tor has no network, and the console's page in Chromium or in Firefox."""

import itertools
import json
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from bench import Phone
from checks import free_port, hung, until
from chromium import Chromium
from firefox import Firefox


class World:
    """A node with a console and a mailbox, and one browser."""

    def __init__(self, root, browser=Chromium):
        self.root = root
        program = root / ".build/debug/onionbelld"
        assert program.exists(), "the programs are not built: swift build"
        self.command = root / ".build/debug/onionbell"
        self.directory = Path(tempfile.mkdtemp(prefix="obc-", dir="/tmp"))
        self.browser = None
        (self.directory / "torrc").write_text((root / "torrc").read_text() + "\nDisableNetwork 1\n")
        self.config = self.directory / "node.yaml"
        self.log = self.directory / "log"
        self.port = free_port()
        self.configure(self.port)
        self.program = program
        self.begin()
        self.link_file = self.directory / "state/console-link"
        self.origin = f"http://127.0.0.1:{self.port}"
        # No push service for the browser: nothing of the console's asks for one.
        self.browser = Chromium() if browser is Chromium else Firefox("ws://127.0.0.1:9/")

    def begin(self, **options):
        with self.log.open("wb") as output:
            self.node = subprocess.Popen(
                [self.program, "--config", self.config], stdout=output, stderr=output, stdin=subprocess.DEVNULL, **options
            )
        until(lambda: "node.started" in self.log.read_text(), "the node")

    def end(self):
        self.node.send_signal(signal.SIGTERM)
        self.node.wait(hung)

    def configure(self, port):
        self.config.write_text(f"""
state_directory: {self.directory}/state
tor: {{mode: own, torrc: {self.directory}/torrc}}
onion: {{peer_listen: "unix:{self.directory}/peers", guarded: false}}
management: {{listen: "unix:{self.directory}/management"}}
console: {{listen: ["127.0.0.1:{port}"]}}
apps:
  - {{name: box, gateway: mailbox}}
  - {{name: phones, gateway: fcm}}
defaults: {{android: phones}}
doors: {{mailbox: {{listen: ["onion:80"]}}}}
""")

    def link(self):
        printed = subprocess.run(
            [self.command, "console", "link", "--config", self.config], capture_output=True, text=True, check=True
        )
        return printed.stdout.strip()

    def page(self, url, **options):
        kind = ConsolePage if isinstance(self.browser, Chromium) else FirefoxPage
        return kind(self, url, **options)

    def stop(self):
        if self.browser:
            self.browser.stop()
        self.node.send_signal(signal.SIGTERM)
        self.node.wait(hung)
        shutil.rmtree(self.directory, ignore_errors=True)


class ConsolePage(Phone):
    """A browser that opens a place of the console."""

    def __init__(self, world, url, **options):
        super(Phone, self).__init__(world.browser, world.origin, **options)
        self.begin(world, url)

    def begin(self, world, url):
        self.world = world
        self.open(url)
        self.shown("h1")

    def go(self, fragment):
        """Returns when the screen is drawn."""
        self.run("document.querySelector('h1').dataset.old = 1; location.hash = given[0]", fragment)
        until(lambda: self.run("return document.querySelector('h1')?.dataset.old !== '1'"), fragment)

    def speak(self, language):
        self.run(
            """const {state} = await import("./state.js");
            state.language = given[0];
            state.words = (await import("./words.js")).wordsIn(given[0]);""",
            language,
        )

    def zoom(self, times, width, height):
        """Shows the page as a window of this size does, so many times as large."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            {"width": width // times, "height": height // times, "deviceScaleFactor": times, "mobile": False},
        )

    # MARK: Without scripts

    def stop_scripts(self):
        self.command("Emulation.setScriptExecutionDisabled", {"value": True})

    def visit(self, url):
        self.command("Page.navigate", {"url": url})

    def evaluate(self, expression):
        return self.command("Runtime.evaluate", {"expression": expression})["result"].get("value")

    def body(self):
        return self.evaluate("document.body?.innerText") or ""

    def place(self):
        return self.evaluate("location.href")

    def send_form(self, name, text):
        field = f"document.querySelector('[name={name}]')"
        self.evaluate(f"{field}.value = {json.dumps(text)}; {field}.form.requestSubmit()")


class FirefoxPage(ConsolePage):
    """A window of Firefox with a storage of its own, as `ConsolePage` has one."""

    numbers = itertools.count(1000)

    def __init__(self, world, url, width=390, height=844):
        self.firefox = world.browser
        self.context = next(self.numbers)
        self.handle = self.firefox.window(self.context)
        self.size(width, height)
        self.begin(world, url)

    def open(self, url):
        self.firefox.use(self.handle)
        self.firefox.open(url)

    def run(self, script, *arguments):
        self.firefox.use(self.handle)
        return self.firefox.run(script, *arguments)

    def in_chrome(self, script, *arguments):
        self.firefox.use(self.handle)
        return self.firefox.in_chrome(script, *arguments)

    def speak(self, language):
        """A script from outside has modules of its own, so the page is loaded anew."""
        self.run("localStorage.setItem('language', given[0])", language)
        self.firefox.command("WebDriver:Refresh")
        self.shown("h1")

    def size(self, width, height):
        """Makes the page as large, which may be less than a window can be."""
        self.in_chrome(
            """gBrowser.selectedBrowser.style.cssText =
                `flex: none; width: ${arguments[0]}px; height: ${arguments[1]}px; min-width: 0; max-width: none`;""",
            width, height,
        )  # fmt: skip

    def zoom(self, times, width, height):
        self.size(width, height)
        self.in_chrome("gBrowser.selectedBrowser.fullZoom = arguments[0]", times)
        until(lambda: self.run("return innerWidth") == width // times, "the zoom")

    def appearance(self, scheme):
        self.in_chrome(
            "Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', arguments[0])",
            ["dark", "light"].index(scheme),
        )
        until(lambda: self.run("return matchMedia(`(prefers-color-scheme: ${given[0]})`).matches", scheme), scheme)

    def stop_scripts(self):
        self.in_chrome("gBrowser.selectedBrowser.browsingContext.allowJavascript = false")

    def visit(self, url):
        self.open(url)

    def found(self, selector):
        self.firefox.use(self.handle)
        element = self.firefox.command("WebDriver:FindElement", {"using": "css selector", "value": selector})["value"]
        return next(iter(element.values()))

    def body(self):
        return self.firefox.command("WebDriver:GetElementText", {"id": self.found("body")})["value"]

    def place(self):
        self.firefox.use(self.handle)
        return self.firefox.command("WebDriver:GetCurrentURL")["value"]

    def send_form(self, name, text):
        self.firefox.command("WebDriver:ElementSendKeys", {"id": self.found(f"[name={name}]"), "text": text})
        self.firefox.command("WebDriver:ElementClick", {"id": self.found("[type=submit]")})

    def picture(self, path):
        self.firefox.use(self.handle)
        self.firefox.picture(path)

    def close(self):
        self.firefox.use(self.handle)
        self.firefox.close(self.context)


def restore(world, text):
    """The node as it was, for the checks after this one."""
    world.config.write_text(text)
    world.end()
    world.begin()
