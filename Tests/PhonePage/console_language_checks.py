"""What the node says in English, found in its sources: all of it that the console shows has a translation in each language."""

import json
import re

from checks import equal
from console_checks import familiar, fragments

languages = ("de", "es", "fr", "pt", "ru")

# Sources whose sentences come into the console, by patterns.
sources = (
    "Sources/Core/Overview/*.swift", "Sources/Core/Pointing/*+Advice.swift", "Sources/Node/Onion/OnionHealth.swift",
    "Sources/Node/Watch/CertificateAlarm.swift", "Sources/Node/Settings/*.swift", "Sources/Node/Restart/*.swift",
    "Sources/Edge/Tor/Onion/OnionState.swift", "Sources/Edge/Tor/Control/ControlError.swift", "Sources/Edge/Tor/Process/TorProcess.swift",
    "Sources/Edge/Tor/SelfDial/*.swift", "Sources/Base/Crypto/CryptoError.swift", "Sources/Base/YAML/*.swift", "Sources/Edge/Gateways/*.swift", "Sources/Edge/Gateways/*/*App.swift",
    "Sources/Edge/Gateways/*/*Answer.swift", "Sources/Edge/Gateways/*/*Probe.swift", "Sources/Edge/Gateways/FCM/ServiceAccount.swift",
    "Sources/Edge/Gateways/Connection/GatewayURL.swift", "Sources/Features/Owner/Endpoint/Console/SettingsConsole.swift",
    "Sources/Features/Owner/Endpoint/Ways/*.swift", "Sources/Features/Owner/Endpoint/Calls/NodeCalls+Settings.swift",
    "Sources/Features/Owner/Endpoint/Console/NodeConsole+Listeners.swift", "Sources/Node/Doors/DoorListeners.swift",
    "Sources/Node/Doors/DoorSockets.swift", "Sources/Features/*/*Feature.swift", "Sources/Features/*/Endpoint/*Feature.swift", "Sources/Node/NodeStart.swift", "Sources/Node/NodeError.swift", "Sources/Node/Onion/TransportPrograms.swift", "Sources/Base/Reactor/SOCKS5Handshake.swift", "Sources/Base/Reactor/Listener*.swift",
)  # fmt: skip
# Files of those patterns that say nothing in the console.
elsewhere = {
    # Read on the node's own page, in a terminal or by programs.
    "Check+Words", "MetricsPage", "StatusJSON", "StatusText", "StatusScript", "StatusStyle", "StatusDrawings", "PastText", "HealthReport",
    "OnionReport", "Markup",
    # What the console's own words say by the reason's code.
    "RefusalHelp",
}  # fmt: skip
# Of these files one part only is drawn in the console.
only = {
    "StatusPage+Node": r"    var events: Markup \{.*?\n    \}\n", "NodeCalls+Settings": r"    // MARK: Taking over\n.*",
}  # fmt: skip
# Words of the system, which it puts behind a failed operation.
systems = {
    "Address already in use", "Cannot assign requested address", "Permission denied", "No such file or directory", "No space left on device",
    "Read-only file system", "Connection refused", "Connection timed out", "Connection reset by peer", "No route to host",
    "Network is unreachable",
}  # fmt: skip
# Parts of files: the page's own, which the console has not; titles, which have words there; the descriptions of metrics; and proofs that are
# counted, which stand in a table of the documents.
left_out = {
    "StatusPage": [r"    private (?:var|func) (?:page|address|latency|more)\b.*?\n    \}\n", r"title\(\"[^\"]*\", \"\w+\"\)"],
    "StatusPage+Plots": [r"title\(\"[^\"]*\", \"\w+\"\)"],
    "CheckKind": [r"case \.\w+: \"[A-Z][^\"\\]*\"\n"],
    "Report": [r"precondition\(.*?\)\n"],
    "SharedReport": [r"title\(\"[^\"]*\", \"\w+\"\)", r"page\.begin\(.*?\)"],
    # Told by their codes.
    "NodeCalls+Settings": [r"\"settings_closed\",\s*\"[^\"]*\"", r"\"changed_meanwhile\", \"[^\"]*\""],
    "TorProcess": [r"hasPrefix\(\"[^\"]*\"\)"],
    "Proof": [r"\.counted\(\"[^\"]*\"\)(?=\n)", r"preconditionFailure\(.*?\)\n"],
}
# What is no sentence, or is drawn by a word of the console's, or is compared with what a service has said.
no_sentences = {
    "tiles four", "Last changes (UTC", "openssl pkcs12 -legacy -nodes -in old.p12 | openssl pkcs12 -export -out new.p12",
    "the oldest for", "last delivery", "peer connected", "peers connected", "last check from outside", "ClientOnionAuthDir DIR",
    "look at {}/lock", "another machine", "unix:{} ExtendedErrors", "not yet valid", "404 page not found", "Apple Development", "Apple Distribution", "iPhone Developer",
    "iPhone Distribution", "Developer ID Application", "Developer ID Installer", "Mac Developer", "Pass Type ID", "Website Push ID",
    "VoIP Services", "push subscription", "authorization header", "ttl header", "invalid topic", "VAPID public key mismatch",
    "do not correspond to the credentials used to create the subscription",
}  # fmt: skip


class Literals:
    """The texts of a Swift source, with {} for what is put into them. Two that are added are one."""

    def __init__(self, source):
        self.source, self.found = source, []
        self.read()

    def read(self):
        source, place = self.source, 0
        while place < len(source):
            if source.startswith("//", place):
                place = max(source.find("\n", place), place + 2)
            elif source[place] == '"':
                text, place = self.text(place)
                while True:
                    follows = re.match(r'\s*\+\s*"', source[place:])
                    if not follows:
                        break
                    more, place = self.text(place + follows.end() - 1)
                    text += more
                self.found.append(text)
            else:
                place += 1

    def text(self, place):
        source = self.source
        quote = '"""' if source.startswith('"""', place) else '"'
        place += len(quote)
        text = ""
        while not source.startswith(quote, place):
            character = source[place]
            if character != "\\":
                text, place = text + character, place + 1
            elif source[place + 1] == "(":
                depth, place = 1, place + 2
                while depth:
                    if source[place] == '"':
                        inner, place = self.text(place)
                        self.found.append(inner)
                        continue
                    depth += {"(": 1, ")": -1}.get(source[place], 0)
                    place += 1
                text += "{}"
            elif source[place + 1] == "\n":
                place += 2
                while source[place] == " ":
                    place += 1
            else:
                text, place = text + {"n": "\n", "t": "\t"}.get(source[place + 1], source[place + 1]), place + 2
        return text, place + len(quote)


def sentences_in(text):
    """A text's sentences: those between the marks of a drawing, or in the paragraphs of an advice."""
    if "</" in text or re.match(r"\s*<\w+[ >]", text):
        # A label that has a word of the console's is drawn by that.
        text = re.sub(r"<\w+\{\}[^>]*>[^<]*", "\n", text)
        return [part for part in re.split(r"<[^>]*>|\n", text)]
    if "\n" in text:
        lines = text.strip("\n").split("\n")
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        blocks = "\n".join(line[indent:] for line in lines).split("\n\n")
        blocks = [block for block in blocks if not block.startswith("    ")]
        return [re.sub(r"^\d\. ", "", re.sub(r"\s*\n\s*", " ", block).strip()) for block in blocks]
    return [text]


def bare(text):
    """What is left of a sentence without the values and marks around it: it is put together of such parts."""
    text = re.sub(r"\{\d?\}", "{}", text)
    text = re.sub(r"(\{\})+", "{}", text)
    while True:
        shorter = re.sub(r"^[\s:;,.(]+|[\s:;,.)]+$", "", text)
        shorter = re.sub(r"^\{\}(?=\W)|(?<=\W)\{\}$|(?<=\w)\{\}$|^\{\}(?=[a-z])", "", shorter)
        if shorter == text:
            return text
        text = shorter


def is_sentence(text):
    return len(re.findall(r"[A-Za-z]{2,}", text)) > 1 and " " in text and text not in no_sentences


def said_in(root):
    """The node's sentences by the files that have them, bare."""
    said = {}
    for path in sorted({path for pattern in sources for path in root.glob(pattern)}):
        if path.stem in elsewhere:
            continue
        source = path.read_text()
        if path.stem in only:
            source = re.search(only[path.stem], source, re.S)[0]
        for part in left_out.get(path.stem, []):
            source, count = re.subn(part, "\n", source, flags=re.S)
            assert count, (path, part)
        for text in Literals(source).found:
            for sentence in sentences_in(text):
                if is_sentence(bare(sentence)):
                    said.setdefault(bare(sentence), path.name)
    assert len(said) > 400, len(said)
    return said


def table_of(root, language):
    """The sentences of a language, by the English ones."""
    text = (root / f"Sources/Console/languages/{language}-said.js").read_text()
    rows = re.findall(r'^    ("(?:[^"\\]|\\.)*"): ("(?:[^"\\]|\\.)*"),$', text, re.M)
    equal(len(rows), text.count("\n") - 4)
    return {json.loads(english): json.loads(translated) for english, translated in rows}


def is_known(sentence, keys):
    """Whether a sentence has a translation, or all that it is put together of."""
    if sentence in keys or not is_sentence(sentence):
        return True
    # What is written out here may be a value elsewhere.
    if any(len(key) > 30 and re.fullmatch(re.escape(key).replace(r"\{\}", ".+"), sentence) for key in keys):
        return True
    for separator in ("; ", ", ", ": "):
        parts = sentence.split(separator)
        if len(parts) > 1 and all(is_known(bare(part), keys) for part in parts):
            return True
    return False


def each_sentence_of_the_node_has_its_translations(world):
    """Also of none that is said no more."""
    said = said_in(world.root)
    table = {language: table_of(world.root, language) for language in languages}
    english = list(table["de"])
    keys = {bare(key) for key in english}
    equal([(name, sentence) for sentence, name in said.items() if not is_known(sentence, keys)], [])
    parts = {bare(part) for sentence in said for separator in ("; ", ", ", ": ") for part in sentence.split(separator)}
    equal(sorted(key for key in keys if is_sentence(key) and key not in said and key not in parts and key not in systems), [])
    for language, rows in table.items():
        equal((language, list(rows)), (language, english))
        for key, text in rows.items():
            assert set(re.findall(r"\{\d\}", text)) <= set(re.findall(r"\{\d\}", key)), (language, key, text)
            assert text != key or not is_sentence(key), (language, key)
            # Words that no other of the languages has. What stands in a file or a command is the same in each.
            assert not re.search(r"\b(the|and|is|with|of)\b", re.sub(r"\"[^\"]*\"|[\w-]+\([^)]*\)", "", text)), (language, key, text)
            assert not re.search(rf"\b({familiar[language]})\b", re.sub(r"\b[A-Z]+\b", "", text), re.I), (language, key, text)


def the_console_says_the_nodes_sentences_in_each_language(world):
    """By the page's own reading, with figures and names in the places of values."""
    english = list(table_of(world.root, "de"))
    filled = [re.sub(r"\{(\d)\}", lambda found: f"x{found[1]}y", key) for key in english]
    with world.page(world.link()) as page:
        page.says("Let your Bisq")
        for language in languages:
            table = table_of(world.root, language)
            page.run("const { state } = await import('./state.js'); state.speak(given[0]); await (await import('./said.js')).learn()", language)
            told = page.run("const { said } = await import('./said.js'); return given[0].map(said)", filled)
            wanted = [re.sub(r"\{(\d)\}", lambda found: f"x{found[1]}y", table[key]) for key in english]
            equal([(language, *one) for one in zip(filled, told, wanted) if one[1] != one[2]], [])
        page.run("(await import('./state.js')).state.speak('de'); await (await import('./said.js')).learn()")
        for sentence, german in composed.items():
            equal(page.run("return (await import('./said.js')).said(given[0])", sentence), german)
        # What a stranger could make of it stays bounded: the page answers, and the text is there.
        long = "not known since the last x, for ago: none, " * 90
        told = page.run("const { said } = await import('./said.js'); return Array.from({ length: 100 }, () => said(given[0]))[99]", long)
        assert len(told) > 1000, told


# Sentences as the node puts them together, and what belongs to others and stays.
composed = {
    "the last delivery was 5 min ago": "die letzte Zustellung war vor 5 Min.",
    "senders find the onion address in the Tor network, 6 introduction points, last client 12 s ago":
        "Absender finden die Onion-Adresse im Tor-Netz, 6 Einstiegspunkte, letzter Client vor 12 Sek.",
    "tor 0.4.9.11, bootstrap 100 %, no circuit": "Tor 0.4.9.11, Aufbau 100 %, kein Weg",
    "blocked: TLS: certificate has expired": "gesperrt: TLS: certificate has expired",
    "not known since the start, without an answer of tor yet: not connected": "seit dem Start noch nicht bestätigt (Antwort von Tor): nicht verbunden",
    '"70000" is not allowed; a whole number from 1 to 65535': '"70000" ist nicht erlaubt; eine ganze Zahl von 1 bis 65535',
    "a word of a stranger's that nobody knows": "a word of a stranger's that nobody knows",
    "tor of mine, and no errors": "tor of mine, and no errors",
    "the last call to the node's own address failed: tor said no; it answered 40 s ago":
        "eigene Adresse, letzter Anruf: fehlgeschlagen, tor said no; sie antwortete vor 40 Sek.",
}  # fmt: skip

def no_screen_has_english_left(world):
    """This node has checks that fail and warn, an event, apps that are off, and advice about each Bisq."""
    with world.page(world.link()) as page:
        page.says("Let your Bisq")
        for language in languages:
            page.speak(language)
            for fragment in fragments[1:] + fragments[:1]:
                page.go(fragment)
                texts = page.run(
                    """const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
                    const texts = [];
                    while (walker.nextNode()) {
                        const { parentElement, textContent } = walker.currentNode;
                        if (!parentElement.closest("code, pre, textarea, .difference, select")) texts.push(textContent);
                    }
                    return [texts, [...document.querySelectorAll("main [lang=en]")].map(one => one.outerHTML.slice(0, 200))];"""
                )
                equal((language, fragment, texts[1]), (language, fragment, []))
                left = [text for text in texts[0] if re.search(r"\b(the|and|is|with|of|has|[Nn]ot)\b", text)]
                equal((language, fragment, left), (language, fragment, []))
        page.speak("de")
        page.go("#/now")
        page.says("Onion-Adresse: Tor baut sich auf", "der Knoten startete")


checks = []
in_chromium = [
    each_sentence_of_the_node_has_its_translations, the_console_says_the_nodes_sentences_in_each_language, no_screen_has_english_left,
]
