/* Whether the node answers. A page over a node that is gone says so within ten seconds, and goes on by itself when it is back. */

import { element } from "./dom.js";
import { state } from "./state.js";

/** Milliseconds: two signs of life that have not come, the time for an answer, and the pause between two questions. */
const silence = 6000;
const patience = 3000;
const pause = 2000;

let heard = Date.now();
let timer = 0;
let isWatching = false;
let isAsking = false;
let onreturn = () => {};

export const presence = { isLost: false };

/** Calls `back` when the node answers again after it did not. */
export function whenBack(back) { onreturn = back; }

/** From now on the node is to give a sign of life every few seconds; `false`: nobody listens for one. */
export function watch(isOn) {
    if (isOn === isWatching) return;
    isWatching = isOn;
    if (isOn) heard = Date.now();
    plan();
}

/** The node has said something. */
export function hasAnswered() {
    heard = Date.now();
    if (presence.isLost) {
        presence.isLost = false;
        draw();
        onreturn();
    }
    plan();
}

/** Something was not answered: asks at once whether the node is there. */
export function doubt() {
    clearTimeout(timer);
    ask();
}

function plan() {
    clearTimeout(timer);
    if (presence.isLost) timer = setTimeout(ask, pause);
    else if (isWatching) timer = setTimeout(ask, Math.max(0, heard + silence - Date.now()));
}

async function ask() {
    if (isAsking || document.hidden) return;
    isAsking = true;
    const isThere = await answers();
    isAsking = false;
    if (isThere) return hasAnswered();
    if (!presence.isLost && !state.isRestarting) {
        presence.isLost = true;
        draw();
    }
    clearTimeout(timer);
    timer = setTimeout(ask, pause);
}

/** What a proxy says in the node's place is no answer of the node. */
async function answers() {
    try {
        const answer = await fetch("api/v1/session", {
            credentials: "same-origin", cache: "no-store", redirect: "error", signal: AbortSignal.timeout(patience),
        });
        return answer.status === 204 || typeof (await answer.json()).code === "string";
    } catch {
        return false;
    }
}

/** The node was asked to restart, or has: its silence is awaited, and said so on every screen. */
export function setRestarting(isRestarting) {
    state.isRestarting = isRestarting;
    draw();
}

function draw() {
    const line = document.getElementById("presence");
    const time = new Intl.DateTimeFormat(state.language, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
    const isLost = presence.isLost && !state.isRestarting;
    document.body.classList.toggle("is-lost", isLost || state.isRestarting);
    line.hidden = !isLost && !state.isRestarting;
    line.classList.toggle("is-awaited", state.isRestarting);
    line.replaceChildren(state.isRestarting ? element("span", { class: "pulse", "aria-hidden": "true" }) : "", line.hidden ? ""
        : element("strong", {}, isLost ? state.words("no_answer_since", { time: time.format(heard) }) : state.words("restart_waiting")));
}

document.addEventListener("visibilitychange", () => {
    if (!document.hidden && (isWatching || presence.isLost)) doubt();
});
