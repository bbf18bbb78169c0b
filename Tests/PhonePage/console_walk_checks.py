"""The owner's whole way by the console, from the link to another machine, in a private Tor network: Bisq's relay, the page for
phones, a mailbox and "only my phones" are rung and seen in the list. One lab and one phone (Firefox) serve both browsers."""

import re
import subprocess

import node_checks
from checks import equal, free_port, hung, until
from chromium import Chromium
from console_ways_checks import is_on, tap_switch, turn
from console_world import ConsolePage, FirefoxPage
from firefox import Firefox

passphrase = "correct horse battery"
anna = "android|Pixel 8|Dk9erQ51RUOo8bV1IvaGpE99prQKLUdS|" + "c8-XLrQLrwJs0gwFfkWL2D:APA91b" + "A" * 134
stranger = "android|Pixel 7|Dk9erQ51RUOo8bV1IvaGpE99prQKLUdS|" + "q1-XLrQLrwJs0gwFfkWL2D:APA91b" + "B" * 134


class Lab(node_checks.World):
    """The private network with Bisq's relay, a browser's push service and Bisq's tor, without a node."""

    def begin(self):
        self.lab_log = self.start("lab", "onionbell-lab", "lab", self.directory / "lab")
        self.said(self.lab_log, r"^ready$")
        self.browsers = self.said(self.lab_log, r"dom\.push\.serverURL = (ws://\S+)")
        self.settings = re.search(r"--set (\S+allowed_hosts=\S+) --set (\S+ca_file=\S+)", self.lab_log.read_text()).groups()
        self.socks = self.said(self.lab_log, r"^socks 127\.0\.0\.1:(\d+)$")
        self.firefox = Firefox(self.browsers)


class World:
    """A node as `init --bisq` makes it, whose owner has a browser. `lab` is shared."""

    def __init__(self, lab, name, browser=None):
        self.lab, self.name = lab, name
        self.browser = browser or lab.firefox
        self.directory = lab.directory / name
        self.directory.mkdir()
        self.config = self.directory / "node.yaml"
        self.port = free_port()
        self.origin = f"http://127.0.0.1:{self.port}"
        lab.config = self.config
        lab.run(
            "init", "--bisq", "--console", "local", "--web-push", "anonymous", "--state-directory", self.directory / "state",
            *(word for one in (
                f"tor.torrc={lab.directory}/lab/torrc", f"management.listen=unix:{self.directory}/management",
                f"console.listen=[127.0.0.1:{self.port}]", *lab.settings,
            ) for word in ("--set", one)),
        )  # fmt: skip
        self.begin()

    def begin(self):
        self.log = self.lab.start(self.name, "onionbelld", "--config", self.config)
        self.node = self.lab.children[-1]
        self.address = self.lab.said(self.log, r"^onionbell: (\S+\.onion)")
        self.lab.said(self.log, "node.started")

    def end(self):
        self.node.terminate()
        self.node.wait(hung)

    def link(self):
        return (self.directory / "state/console-link").read_text().strip()

    def page(self, url, **options):
        return (ConsolePage if isinstance(self.browser, Chromium) else FirefoxPage)(self, url, **options)


def add(page, name, token):
    if page.run("return location.hash") != "#/phones":
        page.go("#/phones")
    page.type("#name", name)
    page.type("#token", token)
    page.tap("Add")
    page.says(name, "Added. Ring it now.")


def ring(page, name):
    """Rings a phone, or a mailbox, by the button of its row; what its row says then."""
    row = "[...document.querySelectorAll('.phone')].find(one => one.querySelector('strong').innerText === given[0])"
    page.run(f"{row}.querySelector('.outcome').textContent = ''; {row}.querySelector('button').click()", name)
    said = lambda: page.run(f"return {row}?.querySelector('.outcome').innerText ?? ''", name)
    return until(lambda: said() not in ("", "Ringing…") and said(), said)


def anna_rings_by_bisqs_relay(world, page):
    page.says("Let your Bisq ring your phone", "Waiting for your Bisq")
    add(page, "anna", anna)
    said = ring(page, "anna")
    assert said.startswith("Delivered"), said


def bert_rings_by_the_page(world, page):
    """The phone is a Firefox of its own, which the page asks for notifications."""
    page.go("#/ways")
    tap_switch(page, "#way-phone_page")
    page.type("#address-phone_page", f"http://localhost:{free_port()}")
    page.tap("Show what changes")
    page.says("sees the node’s network address")
    turn(page, "on")
    until(lambda: is_on(page, "phone_page"), "it to be on")
    page.go("#/phones")
    page.says("A phone without an app")
    link = page.run("return document.querySelector('#page code').innerText")
    phone = world.lab
    phone.firefox.use(phone.firefox.first)
    phone.firefox.open(link)
    phone.firefox.click("Turn on notifications")
    phone.token = phone.token_after_yes()
    add(page, "bert", phone.token)
    said = ring(page, "bert")
    assert said.startswith("Delivered"), said
    phone.firefox.use(phone.firefox.first)
    phone.shows("Onionbell", "This phone is connected to the node.")


def a_mailbox_rings(world, page):
    page.go("#/ways")
    tap_switch(page, "#way-mailbox")
    page.says("Whoever knows the node’s address can reach it, at onion:8030.")
    turn(page, "on")
    until(lambda: is_on(page, "mailbox"), "Tor")
    page.go("#/phones")
    page.type("#mailbox", "carol")
    page.tap("Make a mailbox")
    page.says("The mailbox carol is made")
    page.tap("Done")
    said = ring(page, "carol")
    assert said.startswith("It lies in the mailbox"), said


def only_mine_lets_bisq_ring_anna_and_nobody_else(world, page):
    page.go("#/ways")
    tap_switch(page, "#mine")
    page.says("bisq1-relay rings only phones of the book then")
    turn(page, "on")
    until(lambda: page.run("return document.querySelector('#mine [role=switch]').getAttribute('aria-checked') === 'true'"), "it")
    for token, is_mine in ((anna, True), (stranger, False)):
        sent = subprocess.run(
            [
                world.lab.programs / "onionbell", "send", "--form", "p2p", "--to", world.address, "--socks",
                f"127.0.0.1:{world.lab.socks}", "--pairing-token", "-", "--title", "Trade", "--message", "paid", "--wait",
            ],
            input=f"{token}\n", capture_output=True, text=True, timeout=hung,
        )  # fmt: skip
        if is_mine:
            equal((sent.returncode, sent.stderr), (0, ""))
        else:
            assert sent.returncode != 0 and "NotInPhoneBook" in sent.stderr + sent.stdout, (sent.stdout, sent.stderr)


def all_of_them_are_in_the_list(world, page):
    page.go("#/now")
    listed = lambda: page.run("return [...document.querySelectorAll('#rings li')].map(one => one.innerText)")

    def are_there():
        rows = listed()
        return all(
            any(all(word in row for word in words) for row in rows)
            for words in (
                ("anna", "delivered after", "bisq1-relay", "a test"), ("anna", "delivered after", "from a Bisq peer"),
                ("bert", "delivered after", "browsers"), ("mailbox carol", "a test was put into the mailbox"),
                ("NotInPhoneBook",),
            )
        )  # fmt: skip

    until(are_there, listed)
    # Name, time and sentence stand apart.
    for row in listed():
        assert len(row.split("\n")) >= 3, row
    page.go("#/phones")
    until(lambda: page.text().count("Last rung") == 3, page.text)


def a_copy_is_taken_and_tried(world, page):
    page.go("#/keep")
    page.says("No copy was made yet.", "Make one now.")
    page.type("#copy-passphrase", passphrase)
    page.type("#copy-passphrase-again", passphrase)
    page.run("const give = URL.createObjectURL; URL.createObjectURL = (blob) => { window.copied = blob; return give.call(URL, blob); }")
    page.tap("Download the copy")
    page.says("The copy is handed to the browser", "Last copy")
    world.copy = page.run(
        """return new Promise((resolve) => {
            const reader = new FileReader();
            reader.onload = () => resolve(reader.result.split(",")[1]);
            reader.readAsDataURL(window.copied);
        })"""
    )
    put(page, "try-file", world.copy)
    page.type("#try-passphrase", passphrase)
    page.tap("Open it")
    page.says("The file can be opened. It holds:", world.address)


def put(page, field, copy):
    page.run(
        """const held = new DataTransfer();
        held.items.add(new File([Uint8Array.from(atob(given[1]), (one) => one.charCodeAt(0))], "onionbell.backup"));
        document.getElementById(given[0]).files = held.files;""",
        field, copy,
    )  # fmt: skip


def another_machine_becomes_the_node(world, page):
    """The copy brings the settings, too: the console is at the place that they name, once the old node has ended."""
    other = World(world.lab, f"{world.name}-moved", world.browser)
    assert other.address != world.address
    with other.page(other.link()) as there:
        there.says("Let your Bisq")
        there.go("#/keep")
        put(there, "file", world.copy)
        there.type("#move-passphrase", passphrase)
        there.tap("Look into it")
        there.says(world.address)
        # The settings are this machine's own: other places, another port.
        there.run("const taken = document.getElementById('settings'); if (taken) taken.checked = false")
        world.end()
        there.tap("Move in")
        there.run("document.querySelector('dialog .danger').click()")
        stopped = "[...document.querySelectorAll('#plan button')].find(one => one.innerText === 'The old node has stopped')"
        until(lambda: there.run(f"return Boolean({stopped})") or "Restart now" in there.text(), there.text)
        if there.run(f"return Boolean({stopped})"):
            there.run(f"{stopped}.click()")
            there.run("document.querySelector('dialog .danger').click()")
        there.says("All is ready for the restart.")
        there.tap("Restart now")
        until(lambda: "Your node" in there.text() or "Restarted in place" in there.text(), there.text)
    lab = world.lab
    lab.config = other.config
    link = lab.run("console link").strip()
    with other.page(link) as there:
        there.says("Phones in the book: 2")
        there.says(world.address)
        there.go("#/phones")
        there.says("anna", "bert", "carol")
        until(lambda: ring(there, "bert").startswith("Delivered"), "the phone")
    other.end()


steps = [
    anna_rings_by_bisqs_relay, bert_rings_by_the_page, a_mailbox_rings, only_mine_lets_bisq_ring_anna_and_nobody_else,
    all_of_them_are_in_the_list, a_copy_is_taken_and_tried, another_machine_becomes_the_node,
]  # fmt: skip
