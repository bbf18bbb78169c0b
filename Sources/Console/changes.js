/* What changes to the settings and moves have in common: the difference, and the restart. */

import { call, Refused } from "./calls.js";
import { button, element } from "./dom.js";
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

/** Offers the restart, and waits for the node's return. */
export async function restart(place, show) {
    const { words } = state;
    const act = button(words("restart_action"), async () => {
        act.disabled = true;
        state.isRestarting = true;
        try {
            await call("POST", "restart");
        } catch (error) {
            if (!(error instanceof Refused)) throw error;
            if (error.status !== 0) {
                state.isRestarting = false;
                return place.append(element("p", { class: "fault", role: "alert" }, error.message));
            }
        }
        place.replaceChildren(element("p", { class: "state" },
            element("span", { class: "pulse", "aria-hidden": "true" }), words("restart_waiting")));
        const isBack = await hasReturned();
        state.isRestarting = false;
        if (isBack) return show();
        place.replaceChildren(element("p", { class: "fault", role: "alert" }, words("restart_lost")));
    }, { class: "primary" });
    place.append(element("p", {}, words("restart_text")), act);
}

/** A node that has run for a shorter time than this page has waited. */
async function hasReturned() {
    const asked = Date.now();
    while (Date.now() < asked + patience) {
        await new Promise((resolve) => setTimeout(resolve, 1000));
        try {
            const { uptime } = await call("GET", "state");
            if (uptime * 1000 < Date.now() - asked) return true;
        } catch (error) {
            if (!(error instanceof Refused)) throw error;
            if (error.status === 401) return true;
        }
    }
    return false;
}
