/* Entering. The same for a node with an owner and for one without. */

import { call, told } from "../calls.js";
import { element, field, form } from "../dom.js";
import { state } from "../state.js";

/** By what a browser's book of passphrases keeps this one: there is one owner, whose name is asked nowhere. */
export const ownersName = () =>
    element("input", { type: "text", autocomplete: "username", value: "onionbell", readonly: true, hidden: true });

export function loginScreen({ show }) {
    const { words } = state;
    const input = element("input", {
        type: "password", name: "passphrase", autocomplete: "current-password", "aria-describedby": "fault",
    });
    const entry = form([ownersName(), field(words("passphrase"), input)], words("enter"), () => told(async () => {
        await call("POST", "session", { passphrase: input.value });
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
