"""Mistakes that people make with the console, and what it says of them."""

from checks import equal, until
from console_calls_checks import asked, session
from console_checks import token
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
        # Who works with keys is not thrown back to the top of the document.
        equal(page.run("return document.activeElement.tagName"), "H1")
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
        page.says("Wege zu Telefonen", "Abgelehnt, und was hilft", "Läuft seit", "phones", "box")
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
    a_token_of_a_mail_is_joined_and_a_cut_one_is_not_added,
    a_new_passphrase_is_typed_twice, what_shuts_the_page_is_said_before, a_fault_of_a_field_stands_at_the_field,
    a_length_of_time_has_a_unit_that_is_chosen, who_has_only_a_mailbox_is_past_the_first_step, the_nodes_drawing_speaks_the_readers_language,
    a_move_that_came_to_nothing_is_said, a_language_is_chosen_and_kept,
]
