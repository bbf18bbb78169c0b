/* Entering. The same for a node with an owner and for one without. */

import { call, Refused, told } from "../calls.js";
import { element, field, form } from "../dom.js";
import { state } from "../state.js";

/** By what a browser's book of passphrases keeps this one: there is one owner, whose name is asked nowhere. */
export const ownersName = () =>
    element("input", { type: "text", autocomplete: "username", value: "onionbell", readonly: true, hidden: true });

/** Tries so often while others guess: one guess a turn is judged, and not always this one. */
const tries = 12;

async function enter(passphrase) {
    for (let left = tries; ; left -= 1) {
        try {
            return await call("POST", "session", { passphrase });
        } catch (error) {
            if (!(error instanceof Refused) || error.code !== "too_many_attempts" || error.after > 1 || left === 1) throw error;
            await new Promise((resolve) => setTimeout(resolve, 1000 * Math.random()));
        }
    }
}

export function loginScreen({ show }) {
    const { words } = state;
    const input = element("input", {
        type: "password", name: "passphrase", autocomplete: "current-password", "aria-describedby": "fault",
    });
    const entry = form([ownersName(), field(words("passphrase"), input)], words("enter"), () => told(async () => {
        await enter(input.value);
        state.hasEntered = true;
        state.loginFault = null;
        await show();
    }));
    return {
        title: words("login_title"),
        isHero: true,
        nodes: [
            state.loginFault ? element("p", { class: "fault", role: "alert" }, state.loginFault) : null,
            element("p", { class: "lead" }, words("login_text")),
            element("ul", { class: "card ways" },
                element("li", {}, words("login_file"), element("code", {}, "console-link")),
                element("li", {}, words("login_command"), element("code", {}, "onionbell console link"))),
            entry,
        ],
    };
}
