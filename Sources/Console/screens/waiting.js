/* What waits, with what can be done about it; and the way from outside. */

import { call, told } from "../calls.js";
import { ask, button, element, icon, say } from "../dom.js";
import { marked, said } from "../said.js";
import { state } from "../state.js";

/** Lanes on which something waits. */
export function waitingOf(node, redraw) {
    const { words } = state;
    const lanes = node.gateways.filter(({ waiting }) => waiting > 0);
    if (lanes.length === 0) return null;
    return element("section", { class: "card", id: "waiting" }, element("h2", {}, words("wait_title")),
        lanes.map((lane) => element("div", { class: "phone" },
            element("div", { class: "texts" }, element("strong", {}, lane.host ? `${lane.app} (${lane.host})` : lane.app),
                element("span", { class: "soft" }, words("wait_count", { count: lane.waiting }),
                    lane.blocked ? element("span", { lang: marked(lane.blocked).lang }, ` ${marked(lane.blocked).text}`) : null)),
            element("div", { class: "buttons" },
                button(words("wait_retry"), () => change("retry", lane, redraw), { class: "small" }),
                button(words("wait_drop"), async () => {
                    if (await ask(words("wait_drop_confirm", { count: lane.waiting, app: lane.app }), words("wait_drop"))) {
                        await change("drop", lane, redraw);
                    }
                }, { class: "small danger" })))));
}

async function change(what, { app, host }, redraw) {
    const { words } = state;
    let outcome = "";
    const fault = await told(async () => {
        const { count, under_way: underWay } = await call("POST", `waiting/${what}`, host ? { app, host } : { app });
        outcome = words(what === "retry" ? "wait_retried" : "wait_dropped", { count });
        if (underWay > 0) outcome += `. ${words("wait_under_way", { count: underWay })}`;
    });
    await redraw();
    say(fault || outcome);
}

/** Calls the node's own address by its tor, as a Bisq elsewhere would. */
export function reaching() {
    const { words } = state;
    const outcome = element("p", { class: "outcome", role: "status" });
    const act = button(words("reach_action"), async () => {
        act.disabled = true;
        outcome.textContent = words("reach_trying");
        const fault = await told(async () => {
            const { outcome: what, reason, milliseconds } = await call("POST", "reach");
            outcome.textContent = `${words(`reach_${what}`, { seconds: (milliseconds / 1000).toFixed(1) })} ${said(reason ?? "")}`.trim();
        });
        if (fault) outcome.textContent = fault;
        act.disabled = false;
    }, { class: "small" });
    return element("section", { class: "card", id: "reach" }, element("h2", {}, words("reach_title")),
        element("p", {}, words("reach_text")), act, outcome);
}
