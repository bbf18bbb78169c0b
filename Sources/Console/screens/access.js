/* The passphrase, and leaving. */

import { call, differ, told } from "../calls.js";
import { button, element, field, form, say } from "../dom.js";
import { browsers, onionAddress } from "./browsers.js";
import { widgets } from "./widgets.js";
import { state } from "../state.js";
import { choice } from "./start.js";
import { ownersName } from "./login.js";
import { languageNames } from "../words.js";

const languageChoice = (show) => choice(state.words("language_choose"), languageNames, state.language, (language) => {
    state.speak(language);
    show();
});

export async function accessScreen({ show }) {
    const { words } = state;
    const { names } = await call("GET", "widget-tokens");
    const [entered, onion] = [await browsers(show), await onionAddress(show)];
    const input = element("input", {
        type: "password", name: "passphrase", autocomplete: "new-password", "aria-describedby": "fault",
    });
    const again = element("input", { type: "password", id: "passphrase-again", autocomplete: "new-password", "aria-describedby": "fault" });
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
            form([ownersName(), field(words("passphrase_new"), input), field(words("passphrase_again"), again)], words("passphrase_set"), () => differ(input, again) ?? told(async () => {
                await call("PUT", "passphrase", { passphrase: input.value });
                input.value = again.value = "";
                say(words("passphrase_done"));
            })),
            element("p", { class: "note" }, words("passphrase_note")),
            entered, onion, widgets(names, show),
            languageChoice(show),
            button(words("leave"), leave, { class: "secondary" }),
        ].filter(Boolean),
    };
}
