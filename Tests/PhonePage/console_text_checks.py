"""Texts of others on the console's screens, at the node of `console_checks`: names, models, reasons of push services."""

import html

from checks import equal, until


def text_of(place):
    """A text that shows if a browser takes it for markup, or a part of it for a pattern of its replacement."""
    return (
        f"{place}<img src=x class=struck onerror='window.struck=1'><b class=struck>$& {{name}}</b>"
        f"\"'><script>window.struck=1</script>&lt;"
    )


# What the node would answer if everybody could name everything as he likes. The node refuses most of it.
answers = {
    "GET peers": {"private": True, "clients": [text_of("peer")]},
    "GET phones": {
        "phones": [
            {"number": 1, "name": text_of("phone"), "platform": "iOS", "app": text_of("app"),
             "model": text_of("model"), "added": 1},
        ],
        "aliases": [text_of("phone")],
    },
    "GET mailboxes": {
        "mailboxes": [
            {"name": text_of("mailbox"), "show": "bell", "open": True, "readers": [text_of("reader")], "waiting": 1}
        ]
    },
    "GET rings": {
        "rings": [
            {"at": 1, "phone": 1, "name": text_of("rung"), "device": text_of("digest"), "app": text_of("ring's app"),
             "host": "production", "endpoint": text_of("endpoint"), "outcome": "refused", "reason": text_of("cause"),
             "help": text_of("help"), "milliseconds": 1},
        ],
        "last": [],
        "refused": [
            {"at": 1, "endpoint": text_of("where"), "reason": text_of("code"), "help": text_of("remedy"), "count": 2}
        ],
    },
    "GET widget-tokens": {"names": [text_of("widget")]},
    "POST phones/1/ring": {"outcome": "refused", "reason": text_of("service"), "milliseconds": 1},
    "POST reach": {"outcome": "unreached", "reason": text_of("way"), "milliseconds": 1},
    "POST peers": {"name": text_of("invited"), "file": text_of("line"), "command": text_of("line")},
    "POST widget-tokens": {"name": text_of("widget"), "token": text_of("token")},
}  # fmt: skip
# Members of the state, as it is otherwise.
state = {
    "status": "failing",
    "gateways": [
        {"app": text_of("app"), "environment": text_of("side"), "host": text_of("host"), "waiting": 2, "delivered": 1,
         "has_credentials": True, "blocked": text_of("blocked")}
    ],
}  # fmt: skip



def escaped(text):
    """A text as the node's drawing has it."""
    return html.escape(text).replace("&#x27;", "&#39;")


# The drawing of the state, as the node makes it.
drawing = (
    '<div class="words failing"><p class="verdict" data-word="now_failing">no</p></div><section class="lane">'
    + "".join(f"<p>{escaped(text_of(place))}</p>" for place in ("check", "advice", "event"))
    + f'<p data-word="now_gateway" data-count="{escaped(text_of("count"))}">no</p></section>'
)

replace_answers = """
    const [answers, state, refusal, drawing] = given;
    const ask = window.fetch;
    window.fetch = async (path, options) => {
        const call = `${options?.method ?? "GET"} ${path.split("api/v1/").pop()}`;
        if (call in answers) return Response.json(answers[call]);
        if (call === "GET state") return Response.json({...await (await ask(path, options)).json(), ...state, uptime: 3600});
        if (call === "GET state/drawing") return new Response(drawing);
        if (call.startsWith("GET ")) return ask(path, options);
        return Response.json({code: "strange", message: refusal}, {status: 409});
    };
"""


def no_text_of_others_becomes_a_part_of_a_screen(world):
    with world.page(world.link()) as page:
        page.says("Let your Bisq")
        page.run(replace_answers, answers, state, text_of("refusal"), drawing)

        def shows(*places):
            for place in places:
                until(lambda: text_of(place) in page.text(), lambda: f"{place} in {page.text()!r}")
            untouched()

        def untouched():
            equal(page.run("return document.querySelectorAll('.struck').length"), 0)
            equal(page.run("return window.struck ?? null"), None)

        def answer(button):
            page.run(f"document.querySelector('dialog {button}').click()")
            until(lambda: page.run("return !document.querySelector('dialog')"), "the question to go")

        page.go("#/phones")
        shows("phone", "app", "model", "mailbox")
        page.tap("Ring")
        shows("service")
        page.run("document.querySelector('.phone .danger').click()")
        shows("phone")
        answer(".danger")
        shows("refusal")
        page.go("#/now")
        shows("check", "advice", "event", "count", "app", "host", "blocked")
        shows("rung", "ring's app", "cause", "help", "where", "code", "remedy")
        page.run("document.querySelector('#waiting .danger').click()")
        shows("app")
        answer(".danger")
        shows("refusal")
        page.run("document.querySelector('#reach button').click()")
        shows("way")
        page.go("#/people")
        shows("peer")
        page.type("#peer", "carol")
        page.run("document.querySelector('#peer').form.requestSubmit()")
        shows("invited", "line")
        page.run("document.querySelector('.phone .danger').click()")
        answer(".danger")
        shows("refusal")
        page.go("#/access")
        shows("widget")
        page.type("#widget", "x")
        page.run("document.querySelector('#widget').form.requestSubmit()")
        shows("token")
        for fragment in ("#/", "#/keep", "#/settings"):
            page.go(fragment)
            untouched()


checks = [no_text_of_others_becomes_a_part_of_a_screen]
