/* Switches over settings: what a switch changes is said in words first, then written, and the node restarted in place. */

import { call, Refused } from "./calls.js";
import { differenceOf, faultOfStart, restartNow } from "./changes.js";
import { button, element, icon } from "./dom.js";
import { said } from "./said.js";
import { state } from "./state.js";

export const switchOf = (label, isOn, onclick) =>
    element("button", { type: "button", class: "switch", role: "switch", "aria-checked": String(isOn), "aria-label": label, onclick });

/** What a switch of this name has come to, where that is not to be seen: said once, when its screen is drawn. */
const outcomes = new Map();

export function outcomeOf(name) {
    const text = outcomes.get(name);
    outcomes.delete(name);
    return text ? element("p", { class: "fault", role: "alert" }, text) : null;
}

/**
 * Says what a change would do, and offers it.
 *
 * `ask` gives what the node's check of the change answers; `sentences` makes words of that answer; `action` is the button's text.
 */
export async function propose(place, { name, ask, sentences, action, show }) {
    const { words } = state;
    place.replaceChildren();
    let [settings, plan] = [];
    try {
        settings = await call("GET", "settings");
        plan = await ask();
    } catch (error) {
        if (!(error instanceof Refused)) throw error;
        place.replaceChildren(element("p", { class: "fault", role: "alert" }, error.message));
        return;
    }
    if (plan.fault_count > 0) {
        place.replaceChildren(element("div", { class: "faults", role: "alert" },
            element("p", { class: "fault" }, words("way_not_possible")),
            element("ul", {}, plan.faults.slice(0, 5).map(({ key, problem }) =>
                element("li", {}, key ? element("strong", {}, `${key}: `) : null, said(problem))))));
        return;
    }
    const fault = element("p", { class: "fault", role: "alert" });
    const take = button(action, async () => {
        take.disabled = true;
        fault.textContent = "";
        try {
            await carryOut(plan, settings, name, show);
        } catch (error) {
            if (!(error instanceof Refused)) throw error;
            fault.replaceChildren(error.message,
                error.code === "changed_meanwhile" ? button(words("settings_again"), show, { class: "small" }) : "");
            take.disabled = false;
        }
    }, { class: "primary" });
    place.replaceChildren(element("div", { class: "proposal" },
        sentences(plan).map((one) => (typeof one === "string" ? element("p", {}, one) : one)),
        element("p", {}, words(plan.needs_restart.length === 0 ? "settings_live" : "way_restart")),
        plan.difference.length === 0 ? null : element("details", {}, element("summary", {}, words("way_difference"), icon("forward")),
            element("div", { class: "inner" }, differenceOf(plan.difference))),
        fault, settings.writable ? take : element("p", { class: "soft" }, words("settings_closed")),
        button(words("cancel"), () => place.replaceChildren(), { class: "secondary" })));
    place.scrollIntoView({ block: "nearest" });
    take.focus({ preventScroll: true });
}

/** Writes the change, which the node tries first. If the node can't start with it all the same, what was there comes back. */
async function carryOut(plan, settings, name, show) {
    const isWritten = plan.difference.length > 0;
    const written = isWritten
        ? await call("PUT", "settings", { version: settings.version, text: plan.text, start: true }) : null;
    dispatchEvent(new Event("settings"));
    let reason = null;
    if (plan.needs_restart.length > 0) {
        try {
            const back = await restartNow();
            reason = back ? said(faultOfStart(back) ?? "") : state.words("restart_lost");
            if (back) state.restarted = reason ? null : back;
            if (!back) throw new Refused(0, "other", reason);
        } catch (error) {
            if (!(error instanceof Refused) || error.status === 0) throw error;
            reason = error.message;
        }
    }
    if (reason) {
        if (isWritten) await call("PUT", "settings", { version: written.version, text: settings.text });
        outcomes.set(name, state.words("way_undone", { reason }));
    }
    dispatchEvent(new Event("settings"));
    await show();
}
