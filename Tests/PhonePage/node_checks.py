"""The way of a new user, with the built programs in a private Tor network: init without an account, the page on a static
host, a real Firefox that pairs, and Bisq's own requests through its tor. What Bisq sends is opened, shown and listed.
"""

import base64
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import bisq
from bench import path
from checks import equal, free_port, hung, until
from firefox import Firefox, PageInFirefox
from host import Host

bisq1_relay = "bisqpushv56wo32w2dv7xacvvcrnow6gud5vkvftwsgevczmspzvqgad.onion"


class World(PageInFirefox):
    """A private network with push services, a node, Bisq's tor, a host with the page, and a browser."""

    def __init__(self, root, folder):
        self.programs = root / ".build/debug"
        assert (self.programs / "onionbell").exists(), "the programs are not built: swift build"
        # A short path: sockets lie in it.
        self.directory = Path(tempfile.mkdtemp(prefix="obp-", dir="/tmp"))
        self.children = []
        self.host = Host(folder)
        self.page = f"{self.host.origin}{path}"
        self.firefox = None
        self.token = ""
        try:
            self.begin()
        except BaseException:
            self.stop()
            raise

    def begin(self):
        self.lab_log = self.start("lab", "onionbell-lab", "lab", self.directory / "lab")
        self.said(self.lab_log, r"^ready$")
        self.browsers = self.said(self.lab_log, r"dom\.push\.serverURL = (ws://\S+)")
        init = self.said(self.lab_log, r"^onionbell (init --defaults --web-push .*)$")
        self.config = self.directory / "node.yaml"
        self.run(
            *init.split(), "--state-directory", self.directory / "state", "--set",
            f"management.listen=unix:{self.directory}/management", "--set", f"doors.phone_page.url={self.page}",
            "--set", f"console.listen=[127.0.0.1:{free_port()}]",
        )  # fmt: skip
        self.node_log = self.start("node", "onionbelld", "--config", self.config)
        self.address = self.said(self.node_log, r"^onionbell: (\S+\.onion)")
        self.socks = self.start_bisqs_tor()
        self.firefox = Firefox(self.browsers)

    def start_bisqs_tor(self):
        """A tor as Bisq 1 starts it, with the line of `onionbell point`; its SOCKS port."""
        printed = self.run("point", "bisq1")
        mapped = re.search(rf"MapAddress {bisq1_relay} \S+\.onion", printed)[0]
        torrc = self.directory / "bisq-torrc"
        torrc.write_text(f"{(self.directory / 'lab/client-torrc').read_text()}\n{mapped}\n")
        log = self.start(
            "tor", "/usr/bin/tor", "-f", torrc, "--SocksPort", "auto", "--DataDirectory", self.directory / "tor",
            "--ControlPort", "0", "--Log", "notice stdout",
        )  # fmt: skip
        self.said(log, r"Bootstrapped 100%")
        return self.said(log, r"Socks listener listening on port (\d+)")

    def start(self, name, program, *arguments):
        """Starts a program that runs as long as this world; the file with what it says."""
        log = self.directory / f"{name}.log"
        with log.open("wb") as output:
            self.children.append(
                subprocess.Popen(
                    [self.programs / program, *map(str, arguments)], stdout=output, stderr=output,
                    stdin=subprocess.DEVNULL, start_new_session=True,
                )  # fmt: skip
            )
        return log

    def said(self, log, pattern, seconds=hung):
        """Waits for a line in a log; what the pattern's group holds."""
        found = until(lambda: re.search(pattern, log.read_text(), re.M), f"{pattern} in {log}", seconds)
        return found[1] if found.groups() else found[0]

    def run(self, command, *arguments, stdin="", status=0):
        """Runs a command of the program; what it prints."""
        ran = subprocess.run(
            [self.programs / "onionbell", *f"{command}".split(), *map(str, arguments), "--config", self.config],
            input=stdin, capture_output=True, text=True, timeout=hung,
        )  # fmt: skip
        equal((ran.returncode, ran.stderr if ran.returncode != status else ""), (status, ""))
        return ran.stdout

    def curl(self, *arguments):
        """Through Bisq's tor. A circuit may end at any time on a busy machine: then once more, as a sender would."""
        end = time.monotonic() + hung
        while True:
            ran = subprocess.run(
                ["curl", "-s", "--socks5-hostname", f"127.0.0.1:{self.socks}", *arguments],
                capture_output=True, text=True, timeout=hung,
            )  # fmt: skip
            # No connection through the proxy, none to the door, nothing answered, or the connection was lost.
            if ran.returncode not in (97, 7, 52, 56) or time.monotonic() > end:
                return ran.stdout

    def send(self, form, title, *more):
        """`onionbell send`, which takes no configuration."""
        ran = subprocess.run(
            [
                self.programs / "onionbell", "send", "--form", form, "--to", self.address, "--socks",
                f"127.0.0.1:{self.socks}", "--pairing-token", "-", "--title", title, "--message", "by send", *more,
            ],
            input=f"{self.token}\n", capture_output=True, text=True, timeout=hung,
        )  # fmt: skip
        equal((ran.returncode, ran.stderr if ran.returncode else ""), (0, ""))
        return ran.stdout

    @property
    def key(self):
        return self.token.split("|")[2]

    @property
    def device_token(self):
        return self.token.split("|")[3]

    def stop(self):
        if self.firefox:
            self.firefox.stop()
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        self.host.stop()
        shutil.rmtree(self.directory, ignore_errors=True)


def the_nodes_link_opens_the_page_and_leads_to_a_pairing_token(world):
    link, *code = world.run("phones link").splitlines()
    key = world.run("key show --vapid").splitlines()[0]
    equal(link, f"{world.page}#k={key}")
    assert len(code) > 20
    world.firefox.open(link)
    world.firefox.click("Turn on notifications")
    world.token = world.token_after_yes()
    assert world.device_token.startswith("wp1:127.0.0.1:3A"), world.device_token[:20]


def the_consoles_link_lets_the_owner_in(world):
    link = (world.directory / "state/console-link").read_text().strip()
    world.console = link.split("#")[0]
    world.firefox.open(link)
    world.listed("Let your Bisq ring your phone", "Waiting for your Bisq", f"{world.address}")
    equal(world.firefox.run("return location.href"), world.console)


def a_phone_is_added_in_the_console_and_rung(world):
    """From the link to the first ring: the notification is on the phone, and opened with its key."""
    world.firefox.run("location.hash = '#/phones'")
    world.listed("There is no phone yet.")
    world.firefox.run(
        "document.getElementById('name').value = 'mine'; document.getElementById('token').value = given[0]", world.token
    )
    world.firefox.click("Add")
    world.listed("mine", "Added. Ring it now.")
    world.firefox.click("Ring")
    world.listed("Delivered: its push service has taken it.")
    world.firefox.open(f"{world.page}#/pair")
    world.shows("Onionbell", "This phone is connected to the node.")
    world.close_notifications()


def the_console_has_seen_the_first_request(world):
    world.firefox.open(world.console)
    world.listed("A Bisq has sent its first request", "Phones in the book: 1")
    world.firefox.run("location.hash = '#/phones'")
    world.firefox.click("Remove")
    until(lambda: world.firefox.run("return document.querySelector('dialog .danger') !== null"), "the question")
    world.firefox.run("document.querySelector('dialog .danger').click()")
    world.listed("There is no phone yet.")
    world.firefox.open(world.page)
    world.listed("Angebot")


def bisq_1s_request_to_its_built_in_address_is_opened_shown_and_listed(world):
    """Through `MapAddress`, as an unchanged Bisq 1 sends it."""
    for message, *shown in [
        (bisq.message("SETUP_CONFIRMATION"), "Paired with Bisq"),
        (bisq.message("TRADE", "Angebot übernommen", "Ihr Angebot Xq81", "Xq81"), "Angebot übernommen", "Ihr Angebot Xq81"),
    ]:
        text = bisq.bisq1(world.key, message)
        answer = world.curl(
            f"http://{bisq1_relay}/relay?isAndroid=true&isProduction=false&isContentAvailable=false&snd=true"
            f"&token={world.device_token.encode().hex()}&msg={text.encode().hex()}"
        )
        equal(answer, "success")
        world.shows(*shown)
    world.listed("Bisq has confirmed this phone.")
    world.go("#/")
    world.listed("Angebot übernommen", "Ihr Angebot Xq81")


def bisq_2s_request_is_opened_shown_and_listed(world):
    content = {"id": "1", "title": "New message", "message": "from peer", "category": "chat_message", "tradeId": "t-7"}
    answer = world.curl(
        f"http://{world.address}:8021/v1/fcm/device/{world.device_token}", "--json",
        f'{{"encrypted":"{bisq.bisq2(world.key, content)}","isUrgent":true,"isMutableContent":true}}',
    )  # fmt: skip
    assert '"wasAccepted":true' in answer, answer
    world.shows("New message", "from peer")
    world.listed("New message", "from peer")


def send_rings_the_phone_in_every_form(world):
    key = base64.b64encode(world.key.encode()).decode()
    for form, *more in [("p2p", "--wait"), ("bisq1",), ("bisq2", "--key", key)]:
        world.send(form, f"sent as {form}", *more)
        world.shows(f"sent as {form}", "by send")


def one_address_for_a_name_rings_the_phone(world):
    """The phone book's alias in place of a token, as for Bisq 2, which takes 300 characters."""
    changes = world.node_log.read_text().count("phones.changed")
    world.run("phones add me --pairing-token -", stdin=f"{world.token}\n")
    rung = world.run("phones test me --pairing-token -", stdin=f"{world.token}\n")
    assert "delivered" in rung, rung
    world.shows("Onionbell", "This phone is connected to the node.")
    token = world.token
    world.token = world.run("phones alias me --pairing-token -", stdin=f"{world.token}\n").strip()
    assert re.fullmatch(r"al1:.{96}", world.device_token)
    until(lambda: world.node_log.read_text().count("phones.changed") > changes + 1, "the node to know the alias")
    try:
        world.send("p2p", "by the alias", "--wait")
        world.shows("by the alias")
    finally:
        world.token = token


def the_log_tells_nothing_of_the_phone(world):
    log = world.node_log.read_text()
    for secret in [world.token, world.key, world.device_token[-66:], "Angebot", "by send"]:
        assert secret not in log
    assert "/wpush/" not in log


checks = [
    the_nodes_link_opens_the_page_and_leads_to_a_pairing_token,
    the_consoles_link_lets_the_owner_in,
    a_phone_is_added_in_the_console_and_rung,
    bisq_1s_request_to_its_built_in_address_is_opened_shown_and_listed,
    the_console_has_seen_the_first_request,
    bisq_2s_request_is_opened_shown_and_listed,
    send_rings_the_phone_in_every_form,
    one_address_for_a_name_rings_the_phone,
    the_log_tells_nothing_of_the_phone,
]
