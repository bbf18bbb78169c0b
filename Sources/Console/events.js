/* What the node says by itself: that something of a kind has changed. Nothing is asked for while nobody looks. */

import { doubt, hasAnswered } from "./presence.js";

const kinds = ["state", "phones", "mailboxes", "peers"];

let source = null;
let closed = null;

/** Calls `onchange` with the kind of each change from now on; an answer that is none ends it with `onend`. */
export function listen(onchange, onend) {
    if (source) return;
    source = new EventSource("api/v1/events");
    for (const kind of kinds) source.addEventListener(kind, () => {
        hasAnswered();
        onchange(kind);
    });
    source.addEventListener("alive", hasAnswered);
    // The browser comes again by itself, but not after a refusal.
    source.addEventListener("error", () => {
        doubt();
        if (source?.readyState !== EventSource.CLOSED) return;
        source = null;
        clearTimeout(closed);
        closed = setTimeout(onend, 5000);
    });
}

export function stopListening() {
    clearTimeout(closed);
    source?.close();
    source = null;
}
