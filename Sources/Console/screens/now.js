/* How the node is. The node draws it, as for its own page; its sentences are told in the language of who reads. */

import { call, callForFile } from "../calls.js";
import { copy, element, group, row } from "../dom.js";
import { elementsOf } from "../drawing.js";
import { state } from "../state.js";
import { ringsList } from "./rings.js";
import { reaching, waitingOf } from "./waiting.js";

/** How often a node that is starting is drawn anew: no event says that it should have started by now. */
const starting = 20_000;

export async function nowScreen() {
    const { words } = state;
    const [head, rest] = [element("div", { id: "now" }), element("div", { id: "figures" })];
    const places = [head, rest];
    let later = 0;
    const draw = async () => {
        const [node, drawing] = await Promise.all([call("GET", "state"), callForFile("GET", "state/drawing")]);
        const parts = elementsOf(await drawing.text());
        // What somebody reads is not moved while it says the same.
        const text = JSON.stringify(node.checks);
        if (head.dataset.checks !== text || !places.some((place) => place.contains(document.activeElement))) {
            head.replaceChildren(...headOf(node, parts[0], () => { head.dataset.checks = ""; return draw(); }));
            rest.replaceChildren(drawn(...parts.slice(1)));
        }
        head.dataset.checks = text;
        clearTimeout(later);
        if (head.querySelector("[data-word=now_starting], [data-word=now_proving]")) {
            later = setTimeout(() => { if (head.isConnected) draw(); }, starting);
        }
    };
    await draw();
    const rings = await ringsList();
    const live = async (kind) => {
        if (kind !== "state" && kind !== "peers") return;
        await draw();
        await rings.draw();
    };
    // Beside each other on a wide screen, below each other on others.
    const side = element("div", { id: "side" }, rings.place, reaching(), element("section", {}, element("div", { class: "group" },
        row(words("keep_title"), () => { location.hash = "#/keep"; }),
        row(words("settings_title"), () => { location.hash = "#/settings"; }),
        row(words("access_title"), () => { location.hash = "#/access"; }))));
    const text = element("p", { class: "note" }, element("a", { href: "status.txt" }, words("as_text")));
    return { title: words("tab_now"), live, isWide: true, nodes: [head, side, element("div", { id: "more" }, rest, text)] };
}

function headOf(node, summary, redraw) {
    const { words } = state;
    return [
        drawn(summary),
        waitingOf(node, redraw),
        node.onion.address ? group(words("now_address"), [row(node.onion.address, () => copy(node.onion.address),
            { icon: "copy", isAction: true, class: "address" })]) : null,
    ].filter(Boolean);
}

const drawn = (...parts) => element("div", { class: "drawing" }, parts);
