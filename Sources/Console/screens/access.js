/* The passphrase, and leaving. */

import { call, told } from "../calls.js";
import { button, element, field, form, say } from "../dom.js";
import { widgets } from "./widgets.js";
import { state } from "../state.js";
import { ownersName } from "./login.js";

export async function accessScreen({ show }) {
    const { words } = state;
    const { names } = await call("GET", "widget-tokens");
    const input = element("input", {
        type: "password", name: "passphrase", autocomplete: "new-password", "aria-describedby": "fault",
    });
    const leave = async () => {
        const fault = await told(() => call("DELETE", "session"));
        if (fault) return say(fault);
        state.hasEntered = false;
        await show();
    };
    return {
        title: words("access_title"),
        nodes: [
            element("p", {}, words("access_text")),
            form([ownersName(), field(words("passphrase_new"), input)], words("passphrase_set"), () => told(async () => {
                await call("PUT", "passphrase", { passphrase: input.value });
                input.value = "";
                say(words("passphrase_done"));
            })),
            element("p", { class: "note" }, words("passphrase_note")),
            widgets(names, show),
            button(words("leave"), leave, { class: "secondary" }),
        ],
    };
}
