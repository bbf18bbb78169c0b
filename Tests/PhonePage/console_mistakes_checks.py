"""Mistakes that people make with the console, and what it says of them."""

import base64
import hmac
import json
import socket
import subprocess
import time

from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from checks import equal, until
from console_calls_checks import asked, session
from console_checks import token
from console_world import restore
from screens_checks import violations

google = "android|Pixel 8|Dk9erQ51RUOo8bV1IvaGpE99prQKLUdS|aku-XrLQrwJs0gwFfkWL2D:APA91b" + "Z" * 134


def empty_book(page):
    """Other checks leave phones."""
    page.run(
        """const headers = { "Onionbell-Console": "1" };
        const { phones } = await (await fetch("api/v1/phones")).json();
        for (const { number } of phones) await fetch(`api/v1/phones/${number}`, { method: "DELETE", headers });"""
    )


def a_token_of_a_mail_is_joined_and_a_cut_one_is_not_added(world):
    with world.page(world.link()) as page:
        empty_book(page)
        page.go("#/phones")
        for cut in (google[: len(google) // 2 + 30], google[:-20]):
            page.type("#name", "me")
            page.type("#token", cut)
            page.tap("Add")
            page.says("The token is cut")
        page.run("document.querySelector('#add button[type=submit]').focus()")
        broken = f"  {google[:40]}\r\n   {google[40:90]} \n\t{google[90:]}\n\n"
        page.type("#token", broken)
        page.tap("Add")
        page.says("me", "Pixel 8")
        # Who works with keys goes on at the new phone.
        until(lambda: page.run("return document.activeElement.classList.contains('ring')"), "the focus")
        # A second phone of the same name and model can be told from the first.
        page.type("#name", "me")
        page.type("#token", google[:-3] + "YYY")
        page.tap("Add")
        until(lambda: page.run("return document.querySelectorAll('.phone[data-number]').length") == 2, "two phones")
        abouts = page.run("return [...document.querySelectorAll('.phone[data-number] .soft:not(.last)')].map(one => one.innerText)")
        assert len(set(abouts)) == 2 and all("#" in about for about in abouts), abouts
        for left in (1, 0):
            page.tap("Remove")
            page.run("document.querySelector('dialog .danger').click()")
            until(lambda: page.run("return document.querySelectorAll('.phone[data-number]').length") == left, "it to go")
        page.says("There is no phone yet.")


def a_phone_has_a_name_of_any_script(world):
    with world.page(world.link()) as page:
        empty_book(page)
        page.go("#/phones")
        for name in ("a\u202eb", "é" * 41, " "):
            page.type("#name", name)
            page.type("#token", google)
            page.tap("Add")
            page.says("A name has up to 40 letters and signs")
        name = "Händy 电话 <b>"
        page.type("#name", f" {name} ")
        page.tap("Add")
        page.says(name, "Pixel 8")
        page.tap("Ring")
        page.tap("Rename")
        page.type("dialog input", "мой телефон")
        page.run("document.querySelector('dialog form').requestSubmit()")
        until(lambda: "мой телефон" in page.text() and not page.run("return document.querySelector('dialog')"), "the name")
        equal(page.run("return document.querySelectorAll('main b').length"), 0)
        page.tap("Remove")
        page.run("document.querySelector('dialog .danger').click()")
        page.says("There is no phone yet.")


def a_mailbox_is_rung(world):
    cookie = session(world)
    equal(asked(world, "POST", "/mailboxes", {"name": "rung"}, cookie)[0], 201)
    with world.page(world.link()) as page:
        page.go("#/phones")
        page.run(
            """const row = document.querySelector('#mailboxes .phone[data-mailbox="rung"]');
            row.querySelector("button").click();"""
        )
        page.says("It lies in the mailbox")
        until(lambda: "Waiting: 1" in page.text(), "the count")
        until(lambda: "a test was put into the mailbox" in page.text(), "when it was rung last")
        equal(violations(page, ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]), [])
        page.go("#/now")
        # Rings of other checks may end meanwhile, and fold it up.
        until(lambda: "mailbox rung" in page.run("return document.getElementById('rings').textContent"), "it in the list")
    equal(asked(world, "POST", "/mailboxes/none/ring", None, cookie)[0], 404)
    equal(asked(world, "DELETE", "/mailboxes/rung", None, cookie)[0], 204)


def sealed(world, text):
    """As the node seals the list: AES-256-SIV, its keys made of the directory's own."""
    key = bytes.fromhex((world.directory / "state/digest-key").read_text().strip())
    own = b"".join(hmac.digest(key, b"kept rings" + bytes([number]), "sha256") for number in (1, 2))
    return AESSIV(own).encrypt(b"\x01" + text.encode(), [b"rings"])


def ten_thousand_rings_are_kept_and_shown_page_by_page(world):
    settings = world.config.read_text()
    now = int(time.time() * 1000)
    ring = {"sequence": 1, "high": 1, "low": 2, "app": "phones", "host": "production", "outcome": "delivered", "taken": 40}
    lines = [json.dumps({**ring, "at": now - 10 * (10_000 - number)}) for number in range(10_000)]
    # Older than what is kept.
    lines.insert(0, json.dumps({**ring, "at": now - 8 * 86_400_000}))
    world.end()
    (world.directory / "state/rings").write_bytes(sealed(world, "\n".join(lines[:10_000]) + "\n"))
    world.config.write_text(settings.replace("management: {", "management: {keep_rings: 604800, "))
    world.begin()
    with world.page(world.link()) as page:
        page.go("#/now")
        shown = lambda: page.run("return document.querySelectorAll('#rings li').length")
        page.says("earlier ones", "Kept on disk for 7 days")
        equal(shown(), 200)
        page.run("document.querySelector('#rings details').open = true; document.querySelector('.older').click()")
        until(lambda: shown() == 400, "the next page")
        page.run("document.querySelector('.older').click()")
        until(lambda: shown() == 600, "the next page")
        equal(page.run("return document.querySelector('#rings details').open"), True)
        page.go("#/settings")
        equal(page.run("return document.getElementById('management.keep_rings').value"), "7")
    printed = subprocess.run(
        [world.command, "rings", "--all", "--config", world.config], capture_output=True, text=True, check=True
    ).stdout
    # Those of other checks end meanwhile.
    found = len([line for line in printed.splitlines() if "phones: delivered" in line])
    assert 9_900 < found < 10_000, found
    world.end()
    world.config.write_text(settings)
    world.begin()
    assert not (world.directory / "state/rings").exists()


def browsers_are_listed_and_ended(world):
    with world.page(world.link()) as page, world.page(world.link()) as other:
        other.says("Let your Bisq")
        page.go("#/access")
        page.says("Browsers that have entered", "This one", "Last used", "Linux", "no onion address of its own")
        before = page.run("return document.querySelectorAll('#sessions .phone').length")
        page.run("document.querySelector('#sessions .danger').click()")
        page.run("document.querySelector('dialog .danger').click()")
        until(lambda: page.run("return document.querySelectorAll('#sessions .phone').length") == before - 1, "it to go")
        # The one that was used last, besides this one.
        other.run("location.hash = '#/phones'")
        other.says("Your node", "Passphrase")


def a_new_passphrase_is_typed_twice(world):
    with world.page(world.link()) as page:
        page.go("#/keep")
        page.type("#copy-passphrase", "a long passphrase")
        page.type("#copy-passphrase-again", "a long passphrasf")
        page.tap("Download the copy")
        page.says("The two passphrases are not the same.")
        page.go("#/access")
        page.type("input[name=passphrase]", "a long passphrase")
        page.tap("Set the passphrase")
        page.says("The two passphrases are not the same.")


def what_shuts_the_page_is_said_before(world):
    with world.page(world.link()) as page:
        page.go("#/settings")
        page.run("document.querySelector('#text').closest('details').open = true")
        text = page.run("return document.querySelector('#text').value")
        line = f'console: {{listen: ["127.0.0.1:{world.port}"]}}\n'
        assert line in text, text
        for changed, says in [
            (text.replace(line, ""), "This takes the console away."),
            (text.replace(str(world.port), str(world.port + 1)), f"no longer at 127.0.0.1:{world.port}"),
        ]:
            page.type("#text", changed)
            page.run("document.querySelector('#text').form.requestSubmit()")
            page.says(says)
        page.type("#text", text + "# a remark\n")
        page.run("document.querySelector('#text').form.requestSubmit()")
        until(lambda: "no longer at" not in page.text() and page.run("return !!document.querySelector('#difference')"), "it to go")


def a_fault_of_a_field_stands_at_the_field(world):
    with world.page(world.link()) as page:
        page.go("#/settings")
        key = "limits.token_rate"
        page.run("document.getElementById(given[0]).value = 'many'", key)
        page.run("document.getElementById(given[0]).form.requestSubmit()", key)
        at = lambda: page.run("return document.getElementById(given[0]).nextElementSibling?.innerText ?? ''", key)
        until(lambda: len(at()) > 5, at)
        equal(page.run("return document.getElementById(given[0]).getAttribute('aria-invalid')", key), "true")
        equal(violations(page, ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]), [])
        page.run("document.getElementById(given[0]).value = '3'", key)
        page.run("document.getElementById(given[0]).form.requestSubmit()", key)
        until(lambda: at() == "", "it to go")


def a_place_of_another_program_is_got_out_of_at_the_settings(world):
    """The new place is tried when the node is to restart: it goes on, says why, and the correction needs no terminal."""
    before = world.config.read_text()
    with socket.socket() as other, world.page(world.link()) as page:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        page.go("#/settings")

        def change(value):
            page.run(
                """const field = document.getElementById("management.listen");
                field.value = given[0];
                field.closest("details")?.setAttribute("open", "");
                field.form.requestSubmit();""",
                value,
            )  # fmt: skip

        was = page.run("return document.getElementById('management.listen').value")
        change(f"127.0.0.1:{port}")
        until(lambda: str(port) in page.run("return document.querySelector('#difference')?.textContent ?? ''"), "the difference")
        page.tap("Take it over")
        page.says("The settings are written.", "A restart is due")
        page.tap("Restart now")
        page.says("The node goes on as it is:", "Address already in use", "management.listen")
        page.go("#/now")
        page.says("Running for", "A restart is due")
        page.go("#/settings")
        change(was)
        until(lambda: str(port) in page.run("return document.querySelector('#difference')?.textContent ?? ''"), "the difference")
        page.tap("Take it over")
        until(lambda: "A restart is due" not in page.text(), "the line to go")
    restore(world, before)


def a_file_that_is_no_copy_is_called_so(world):
    with world.page(world.link()) as page:
        page.go("#/keep")
        for name, content in [("film.mp4", b"\x00\x00\x00\x20ftyp" + bytes(5000)), ("empty.backup", b""), ("notes.txt", b"the passphrase")]:
            for field, form in [("try-file", "#try"), ("file", "#move")]:
                page.run(
                    """const held = new DataTransfer();
                    held.items.add(new File([Uint8Array.from(atob(given[1]), (one) => one.charCodeAt(0))], given[2]));
                    document.getElementById(given[0]).files = held.files;""",
                    field, base64.b64encode(content).decode(), name,
                )  # fmt: skip
                page.type(f"{form} [type=password]", "correct horse battery")
                page.run("document.querySelector(`${given[0]} form`).requestSubmit()", form)
                fault = lambda: page.run("return document.querySelector(`${given[0]} form .fault`).textContent", form)
                until(lambda: fault() == "This file is no copy of a node.", lambda: f"{name}: {fault()!r}")
                page.run("document.querySelector(`${given[0]} form .fault`).textContent = ''", form)


def a_length_of_time_has_a_unit_that_is_chosen(world):
    with world.page(world.link()) as page:
        page.go("#/settings")
        page.says("Usual: 28 days.")
        amount = "return document.getElementById('limits.lifetime').value + ' ' + document.querySelector('.amount .unit').value"
        equal(page.run(amount), "28 day")

        def look(count, unit):
            page.run(
                """const input = document.getElementById("limits.lifetime");
                input.value = given[0];
                input.nextElementSibling.value = given[1];
                input.form.requestSubmit();""",
                count, unit,
            )  # fmt: skip

        look("12,5", "hour")
        until(lambda: "lifetime: 45000" in page.run("return document.querySelector('#difference')?.innerText ?? ''"), "the difference")
        look("29", "day")
        page.says("Allowed: from 1 minute to 28 days.")
        look("", "day")
        page.says("Enter a number.")
        look("672", "hour")
        page.says("Nothing is changed.")
        page.speak("de")
        page.go("#/access")
        page.go("#/settings")
        page.says("Üblich: 28 Tage.")
        look("29", "day")
        page.says("Erlaubt: von 1 Minute bis 28 Tage.")
        page.run("document.querySelector('form details').open = true")
        equal(violations(page, ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]), [])


def who_has_only_a_mailbox_is_past_the_first_step(world):
    cookie = session(world)
    name = "only"
    equal(asked(world, "POST", "/mailboxes", {"name": name}, cookie)[0], 201)
    with world.page(world.link()) as page:
        page.says("Let your Bisq")
        count = page.run("return fetch('api/v1/mailboxes').then(one => one.json()).then(one => one.mailboxes.length)")
        page.says(f"Mailboxes: {count}")
        assert "Add the phone by its pairing token" not in page.text()
    equal(asked(world, "DELETE", f"/mailboxes/{name}", None, cookie)[0], 204)


def the_nodes_drawing_speaks_the_readers_language(world):
    with world.page(world.link()) as page:
        page.says("Let your Bisq")
        page.go("#/now")
        page.says("Ways to phones", "Refused, and what helps", "Running for", "phones", "box")
        page.speak("de")
        page.go("#/phones")
        page.go("#/now")
        page.says("Wege zu Telefonen", "Abgelehnt, und was hilft", "Läuft seit", "phones", "box", "Onion-Adresse")
        left = page.run(
            """return [...document.querySelectorAll("[data-word], [data-time]")].filter(({lang}) => lang !== "de").length"""
        )
        equal(left, 0)
        equal(page.run("return document.querySelectorAll('.drawing .strip, .drawing .plot, .drawing .tiles').length > 1"), True)


def a_move_that_came_to_nothing_is_said(world):
    note = world.directory / "state/move-undone"
    note.write_text("1780000000\nthe port 127.0.0.1:9 is taken <b>")
    try:
        with world.page(world.link()) as page:
            page.go("#/keep")
            page.says("The last move", "came to nothing", "the port 127.0.0.1:9 is taken <b>")
            equal(violations(page, ["wcag2a", "wcag2aa", "best-practice"]), [])
    finally:
        note.unlink()


def a_language_is_chosen_and_kept(world):
    with world.page(world.link()) as page:
        page.go("#/access")
        page.run(
            """const choice = [...document.querySelectorAll("select")].find(one => [...one.options].some(({ value }) => value === "ru"));
            choice.value = "de"; choice.dispatchEvent(new Event("change"));"""
        )
        page.says("Zugang", "Sprache")
        page.open("about:blank")
        page.open(f"{world.origin}/#/now")
        page.says("Läuft seit")
        equal(page.run("return document.documentElement.lang"), "de")
        page.run("localStorage.removeItem('language')")


checks = [
    a_token_of_a_mail_is_joined_and_a_cut_one_is_not_added, a_phone_has_a_name_of_any_script, a_mailbox_is_rung,
    ten_thousand_rings_are_kept_and_shown_page_by_page, browsers_are_listed_and_ended, a_new_passphrase_is_typed_twice,
    what_shuts_the_page_is_said_before, a_fault_of_a_field_stands_at_the_field, a_place_of_another_program_is_got_out_of_at_the_settings,
    a_file_that_is_no_copy_is_called_so,
    a_length_of_time_has_a_unit_that_is_chosen, who_has_only_a_mailbox_is_past_the_first_step, the_nodes_drawing_speaks_the_readers_language,
    a_move_that_came_to_nothing_is_said, a_language_is_chosen_and_kept,
]
