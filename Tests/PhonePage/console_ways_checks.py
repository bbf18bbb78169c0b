"""The ways to phones, switched on and off by mouse alone, at the node of `console_checks`."""

import base64
import socket
import subprocess
import urllib.error
import urllib.request

from checks import equal, free_port, until
from console_calls_checks import asked, session
from console_mistakes_checks import empty_book
from console_world import restore
from screens_checks import violations

rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def tap_switch(page, place):
    """Opens what a switch would change."""
    page.run("document.querySelector(`${given[0]} [role=switch]`).click()", place)


def is_on(page, way):
    return page.run("return document.querySelector(`#way-${given[0]} [role=switch]`)?.getAttribute('aria-checked') === 'true'", way)


def turn(page, action):
    """Takes what is proposed, which restarts the node, and waits for the screen that is drawn then."""
    page.run("document.querySelector('h1').dataset.old = 1")
    page.run("document.querySelector('.proposal .primary').click()")
    until(lambda: page.run("return !document.querySelector('h1')?.dataset.old"), lambda: f"{action}: {page.text()!r}")


def ways_page(world):
    page = world.page(world.link())
    page.says("Let your Bisq")
    page.go("#/ways")
    return page


def browsers_are_switched_on_and_off_and_nothing_else_is_changed(world):
    before = world.config.read_text()
    with ways_page(world) as page:
        assert not is_on(page, "browsers")
        tap_switch(page, "#way-browsers")
        page.says("a key of its own", "Nobody reaches the node by it", "restarts in place")
        for scheme in ("light", "dark"):
            page.appearance(scheme)
            page.settle()
            equal(violations(page, rules if scheme == "light" else ["color-contrast"]), [])
        equal(world.config.read_text(), before)
        turn(page, "on")
        until(lambda: is_on(page, "browsers"), "it to be on")
        page.says("Restarted in place")
        assert "{name: browsers, gateway: web_push}" in world.config.read_text()
        assert "A restart is due" not in page.text()
        tap_switch(page, "#way-browsers")
        page.says("do not ring any more")
        turn(page, "off")
        until(lambda: not is_on(page, "browsers"), "it to be off")
    equal(world.config.read_text(), before)


def the_page_for_phones_is_served_once_it_is_on(world):
    before = world.config.read_text()
    port = free_port()
    with ways_page(world) as page:
        tap_switch(page, "#way-phone_page")
        for address, says in [("", "Enter the address."), ("phone.example.org", "This can’t be done:"), ("http://x.example/phone/", "the page's address")]:
            page.type("#address-phone_page", address)
            page.tap("Show what changes")
            page.says(says)
        page.type("#address-phone_page", f"http://localhost:{port}")
        page.tap("Show what changes")
        page.says("sees the node’s network address", f"127.0.0.1:{port}")
        turn(page, "on")
        until(lambda: is_on(page, "phone_page") and is_on(page, "browsers"), "it to be on")
        with urllib.request.urlopen(f"http://localhost:{port}/phone/") as answer:
            assert b"Onionbell" in answer.read()
        page.go("#/phones")
        page.says(f"http://localhost:{port}/phone/#k=")
        page.go("#/ways")
        # The browsers take their page with them.
        tap_switch(page, "#way-browsers")
        page.says("The page for phones is switched off, too.")
        turn(page, "off")
        until(lambda: not is_on(page, "phone_page") and not is_on(page, "browsers"), "both to be off")
        try:
            urllib.request.urlopen(f"http://localhost:{port}/phone/")
            raise AssertionError("it is served all the same")
        except urllib.error.URLError:
            pass
    restore(world, before)


def a_place_that_another_program_has_is_found_before_anything_is_changed(world):
    before = world.config.read_text()
    with socket.socket() as other, ways_page(world) as page:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        tap_switch(page, "#way-phone_page")
        page.type("#address-phone_page", f"http://localhost:{port}")
        page.tap("Show what changes")
        page.says("restarts in place")
        page.run("document.querySelector('.proposal .primary').click()")
        page.says("nothing is changed, since the node would not start", f"127.0.0.1:{port}")
        page.go("#/phones")
        page.go("#/ways")
        assert not is_on(page, "phone_page")
    equal(world.config.read_text(), before)
    equal([one.name for one in world.directory.iterdir() if one.name.startswith("node.yaml.")], [])


def a_restart_that_fails_leaves_the_way_off_and_says_why(world):
    before = world.config.read_text()
    with ways_page(world) as page:
        page.run(
            """const ask = window.fetch;
            window.fetch = async (path, options) => String(path).endsWith("/restart")
                ? Response.json({code: "start_refused", message: "the disk is full"}, {status: 409}) : ask(path, options);"""
        )
        tap_switch(page, "#way-browsers")
        page.says("a key of its own")
        turn(page, "on")
        page.says("It was switched back.", "the disk is full")
        assert not is_on(page, "browsers")
        until(lambda: "A restart is due" not in page.text(), "the line to go")
    equal(world.config.read_text(), before)


def mailboxes_come_back_with_their_switch(world):
    before = world.config.read_text()
    equal(asked(world, "POST", "/mailboxes", {"name": "stays"}, session(world))[0], 201)
    with ways_page(world) as page:
        # This node's tor has no network, so they are not there yet.
        page.says("Switched on. It works as soon as Tor is ready:")
        page.run("document.querySelector('#way-mailbox button.small').click()")
        page.says("Phones can’t fetch any more.")
        turn(page, "off")
        page.go("#/phones")
        page.says("Mailboxes are switched off.")
        page.go("#/ways")
        tap_switch(page, "#way-mailbox")
        page.says("Whoever knows the node’s address can reach it, at onion:8030.")
        turn(page, "on")
        page.says("Switched on. It works as soon as Tor is ready:")
        page.go("#/phones")
        page.says("stays", "Make a mailbox")
    equal(asked(world, "DELETE", "/mailboxes/stays", None, session(world))[0], 204)
    restore(world, before)


def only_mine_is_a_switch_and_says_that_nothing_rings_with_an_empty_book(world):
    before = world.config.read_text()
    with ways_page(world) as page:
        empty_book(page)
        page.go("#/phones")
        page.go("#/ways")
        tap_switch(page, "#mine")
        page.says("rings only phones of the book then", "The book is empty: with this nothing rings")
        turn(page, "on")
        until(lambda: "targets: phone_book" in world.config.read_text(), "the settings")
        page.says("rings only phones of this book")
        tap_switch(page, "#mine")
        page.says("rings every phone then")
        turn(page, "off")
    restore(world, before)


def a_node_that_is_back_before_its_answer_is_read_is_seen(world):
    before = world.config.read_text()
    with ways_page(world) as page:
        page.run(
            """const ask = window.fetch;
            window.fetch = async (path, options) => {
                const isRestart = String(path).endsWith("/restart");
                const uptime = async () => (await (await ask("api/v1/state")).json()).uptime;
                const old = isRestart ? await uptime() : 0;
                const answer = await ask(path, options);
                while (isRestart && await uptime().catch(() => old) >= old) await new Promise(done => setTimeout(done, 50));
                return answer;
            };"""
        )
        for action, says in [("on", "a key of its own"), ("off", "do not ring any more")]:
            tap_switch(page, "#way-browsers")
            page.says(says)
            turn(page, action)
    equal(world.config.read_text(), before)


def two_browsers_with_one_switch_do_not_overwrite_each_other(world):
    before = world.config.read_text()
    with ways_page(world) as one, ways_page(world) as other:
        for page in (one, other):
            tap_switch(page, "#way-browsers")
            page.says("a key of its own")
        turn(one, "on")
        until(lambda: is_on(one, "browsers"), "it to be on")
        other.run("document.querySelector('.proposal .primary').click()")
        other.says("Somebody else has changed the settings meanwhile.")
        other.tap("Load what is there now")
        until(lambda: is_on(other, "browsers"), "it to be on there, too")
        tap_switch(other, "#way-browsers")
        other.says("do not ring any more")
        turn(other, "off")
    equal(world.config.read_text(), before)


def apples_key_is_chosen_and_the_ids_are_asked_for(world):
    before = world.config.read_text()
    with socket.socket() as nobody:
        # Bound, and nobody listens: the service can't be asked.
        nobody.bind(("127.0.0.1", 0))
        place = f"https://127.0.0.1:{nobody.getsockname()[1]}"
        app = f'  - {{name: bisq-remote-ios, gateway: apns, topic: org.example, production_url: "{place}", sandbox_url: "{place}"}}'
        restore(world, before.replace("apps:\n", f"apps:\n{app}\n"))
        key = subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
            capture_output=True, text=True, check=True,
        ).stdout
        with ways_page(world) as page:
            page.says("Apple (Bisq’s app on iPhones)", "Google (Bisq’s app on Android)")
            tap_switch(page, "#way-apple")
            equal(violations(page, rules), [])
            page.tap("Show what changes")
            page.says("Paste the file, or choose it.")
            page.type("#file-apple", "no key")
            page.tap("Show what changes")
            page.says("The IDs of key and team have ten letters and digits each.")
            choose(page, "#choose-apple", "AuthKey_ABC123DEFG.p8", key.encode())
            until(lambda: page.run("return document.querySelector('#key-apple').value") == "ABC123DEFG", "the id of the file's name")
            page.type("#team-apple", "def123ghij")
            page.tap("Show what changes")
            page.says("It is not known whether the service takes it", "Nobody reaches the node by it")
            equal([one.name for one in (world.directory / "state" / "gateway-keys").iterdir()], ["AuthKey_ABC123DEFG.p8"])
            turn(page, "on")
            page.says("Restarted in place")
            assert "key_id: ABC123DEFG" in world.config.read_text() and "team_id: DEF123GHIJ" in world.config.read_text()
            page.run("document.querySelector('#way-apple :is([role=switch], button.small)').click()")
            page.says("The node does not send to Apple any more.")
            turn(page, "off")
            until(lambda: not is_on(page, "apple"), "it to be off")
    restore(world, before)


def apples_certificate_is_chosen_and_its_password_is_asked_for(world):
    """A `.p12` as macOS Keychain writes it, with RC2 and 3DES."""
    before = world.config.read_text()
    key, certificate, archive = [world.directory / name for name in ("push.key", "push.pem", "push.p12")]
    subject = ["-subj", "/UID=org.example/CN=Apple Push Services: org.example"]
    for command in (
        ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "9", "-keyout", key, "-out", certificate, *subject],
        ["pkcs12", "-export", "-legacy", "-inkey", key, "-in", certificate, "-passout", "pass:pass word", "-out", archive],
    ):
        subprocess.run(["openssl", *command], check=True, capture_output=True)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        place = f"https://127.0.0.1:{nobody.getsockname()[1]}"
        app = f'  - {{name: bisq-remote-ios, gateway: apns, topic: org.example, production_url: "{place}", sandbox_url: "{place}"}}'
        restore(world, before.replace("apps:\n", f"apps:\n{app}\n"))
        with ways_page(world) as page:
            tap_switch(page, "#way-apple")
            seen = lambda name: page.run("return document.getElementById(given[0]).checkVisibility()", name)
            equal([seen("key-apple"), seen("team-apple"), seen("password-apple")], [True, True, False])
            choose(page, "#choose-apple", "push.p12", archive.read_bytes())
            until(lambda: seen("password-apple"), "the field")
            equal([seen("key-apple"), seen("team-apple")], [False, False])
            equal(violations(page, rules), [])
            page.tap("Show what changes")
            page.says("The certificate’s file has a password. Enter it.")
            page.type("#password-apple", "password")
            page.tap("Show what changes")
            page.says("This password does not open the certificate’s file.")
            page.type("#password-apple", "pass word")
            page.tap("Show what changes")
            page.says("It is not known whether the service takes it", "Nobody reaches the node by it")
            assert "pass word" not in page.text() and "pass word" not in world.log.read_text()
            turn(page, "on")
            page.says("Restarted in place")
            equal(sorted(one.suffix for one in (world.directory / "state/gateway-keys").iterdir()), [".p12", ".password"])
            page.run("document.querySelector('#way-apple :is([role=switch], button.small)').click()")
            page.says("The node does not send to Apple any more.")
            turn(page, "off")
            until(lambda: not is_on(page, "apple"), "it to be off")
            # Other files are called what they are, and the fields come back.
            tap_switch(page, "#way-apple")
            choose(page, "#choose-apple", "push.p12", archive.read_bytes()[:600])
            until(lambda: seen("password-apple"), "the field")
            page.tap("Show what changes")
            page.says("This file can’t be used:", "cut off or damaged")
            choose(page, "#choose-apple", "push.pem", certificate.read_bytes())
            until(lambda: seen("key-apple"), "the fields of a key")
            page.type("#key-apple", "ABC123DEFG")
            page.type("#team-apple", "DEF123GHIJ")
            page.tap("Show what changes")
            page.says("this is a certificate without its key")
            choose(page, "#choose-apple", "film.p12", b"\x30" * 16_385)
            page.says("This file is too long.")
    restore(world, before)


def a_file_of_another_kind_is_no_service_account(world):
    before = world.config.read_text()
    with ways_page(world) as page:
        tap_switch(page, "#way-google")
        for name, content, says in [
            ("google-services.json", b'{"project_info": {"project_id": "x"}, "client": []}', "which belongs into the phone's app"),
            ("client.json", b'{"installed": {"client_id": "x"}}', "this is an OAuth client, and no account"),
            ("AuthKey.p8", b"-----BEGIN PRIVATE KEY-----\n", "This file can\u2019t be used: this is no service account of Google's"),
            ("film.mp4", bytes(range(256)) * 8, "This file can\u2019t be used: this is no service account of Google's"),
        ]:
            page.run("document.getElementById('file-google').value = ''")
            choose(page, "#choose-google", name, content)
            until(lambda: page.run("return document.getElementById('file-google').value !== ''"), "the file to be read")
            page.tap("Show what changes")
            page.says(says)
            page.run("for (const one of document.querySelectorAll('#way-google .fault')) one.textContent = ''")
    equal((world.config.read_text(), list(world.directory.glob("state/gateway-keys/*.json"))), (before, []))


def choose(page, chooser, name, content):
    """Chooses a file, as a person does in the browser's dialog."""
    page.run(
        """const held = new DataTransfer();
        held.items.add(new File([Uint8Array.from(atob(given[2]), (one) => one.charCodeAt(0))], given[1]));
        const chooser = document.querySelector(given[0]);
        chooser.files = held.files;
        chooser.dispatchEvent(new Event("change"));""",
        chooser, name, base64.b64encode(content).decode(),
    )  # fmt: skip


def the_console_gets_an_onion_address_by_a_switch(world):
    before = world.config.read_text()
    with ways_page(world) as page:
        page.go("#/access")
        page.says("no onion address of its own")
        tap_switch(page, "#onion")
        page.says("Whoever learns it finds the login, and no more.", "restarts in place")
        equal(violations(page, rules), [])
        turn(page, "on")
        page.says("Open this address in Tor Browser", ".onion", "Whoever knows the address finds the login.")
        address = page.run("return document.querySelector('#onion code').textContent")
        tap_switch(page, "#onion")
        page.says("Nobody finds the console by its onion address any more.")
        turn(page, "off")
        page.says("no onion address of its own")
        tap_switch(page, "#onion")
        page.says("restarts in place")
        turn(page, "on")
        equal(page.run("return document.querySelector('#onion code').textContent"), address)
    restore(world, before)


checks = [
    browsers_are_switched_on_and_off_and_nothing_else_is_changed, the_page_for_phones_is_served_once_it_is_on,
    a_place_that_another_program_has_is_found_before_anything_is_changed,
    a_restart_that_fails_leaves_the_way_off_and_says_why, mailboxes_come_back_with_their_switch,
    only_mine_is_a_switch_and_says_that_nothing_rings_with_an_empty_book,
    a_node_that_is_back_before_its_answer_is_read_is_seen, two_browsers_with_one_switch_do_not_overwrite_each_other,
    apples_key_is_chosen_and_the_ids_are_asked_for, apples_certificate_is_chosen_and_its_password_is_asked_for,
    a_file_of_another_kind_is_no_service_account, the_console_gets_an_onion_address_by_a_switch,
]
