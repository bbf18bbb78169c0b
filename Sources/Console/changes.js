/* What changes to the settings and moves have in common: the difference, and the restart. */

import { call, Refused } from "./calls.js";
import { button, element } from "./dom.js";
import { setRestarting } from "./presence.js";
import { marked } from "./said.js";
import { state } from "./state.js";

const signs = { added: "+", removed: "−", same: " " };

/** Lines that come, go, and stay near them. The sign says it too, for who sees no colours. */
export function differenceOf(lines) {
    const { words } = state;
    return element("div", { class: "difference", tabindex: 0, role: "group", "aria-label": words("difference") },
        lines.map(({ kind, text }) => element(kind === "added" ? "ins" : kind === "removed" ? "del" : "span", { class: `line-${kind}` },
            element("span", { "aria-hidden": "true" }, `${signs[kind]} `), text || " ")));
}

const patience = 90_000;

/**
 * Restarts the node, and waits for its return: its state then; null: it has not come back. Throws what was refused.
 *
 * Nothing of the screen can be used meanwhile: it is drawn anew then, and what was opened would be gone.
 */
export async function restartNow() {
    const screen = document.getElementById("screen");
    setRestarting(true);
    screen.inert = true;
    document.getElementById("restarted")?.remove();
    // Before the node is asked: it may be back before its answer is read.
    const asked = Date.now();
    // What the node has then is what this page has asked for: a move may bring settings.
    state.settingsVersion = null;
    try {
        await call("POST", "restart").catch((error) => {
            // It may have gone before its answer came.
            if (!(error instanceof Refused) || error.status !== 0) throw error;
        });
        return await returned(asked);
    } finally {
        screen.inert = false;
        setRestarting(false);
    }
}

/** Offers the restart, and waits for the node's return. */
export async function restart(place, show) {
    const { words } = state;
    const act = button(words("restart_action"), async () => {
        act.disabled = true;
        let back;
        try {
            back = await restartNow();
        } catch (error) {
            if (!(error instanceof Refused)) throw error;
            return place.append(element("p", { class: "fault", role: "alert" }, error.message));
        }
        if (back) {
            state.restarted = back;
            return show();
        }
        place.replaceChildren(element("p", { class: "fault", role: "alert" }, words("restart_lost")));
    }, { class: "primary" });
    place.append(element("p", {}, words("restart_text")), act);
}

/** Why a node that is back could not start with the settings of the file; undefined: it could. */
export const faultOfStart = (node) =>
    node.checks?.find(({ name, level }) => name === "settings" && level === "failing")?.state;

/** What the last restart was like, said once: null where there was none, or nobody may know. */
export function lastRestart() {
    const { words, restarted } = state;
    state.restarted = null;
    const fault = restarted ? faultOfStart(restarted) : undefined;
    if (fault) {
        return element("div", { class: "fault", role: "alert", id: "restarted" }, element("p", {}, words("restart_back")),
            element("p", { lang: marked(fault).lang }, marked(fault).text));
    }
    if (!restarted?.restart) return null;
    const { unserved, waited } = restarted.restart;
    return element("p", { class: "state is-good", role: "status", id: "restarted" },
        words("restart_done", { seconds: unserved.toFixed(1), waited }));
}

/** Returns the state of a node that has begun since it was asked to restart; null: none has come. */
async function returned(asked) {
    while (Date.now() < asked + patience) {
        await new Promise((resolve) => setTimeout(resolve, 1000));
        try {
            const now = await call("GET", "state");
            if (now.uptime * 1000 < Date.now() - asked) return now;
        } catch (error) {
            if (!(error instanceof Refused)) throw error;
            if (error.status === 401) return {};
        }
    }
    return null;
}
