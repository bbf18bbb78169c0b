/* The passcode: entering it, setting one. */

import { ask, button, element, field, form, say } from "../dom.js";
import { minimumLength } from "../passcode.js";
import { setPasscode, state, unlock, unpair } from "../state.js";

const input = (autocomplete) => element("input", { type: "password", autocomplete, "aria-describedby": "fault" });

export function lockScreen({ go, show }) {
    const { words } = state;
    const passcode = input("current-password");
    return {
        title: words("locked_title"),
        isHero: true,
        nodes: [
            element("p", { class: "lead" }, words("locked_text")),
            form([field(words("passcode_label"), passcode)], words("unlock"), async () => {
                if (!(await unlock(passcode.value))) {
                    passcode.select();
                    return words("passcode_wrong");
                }
                show();
            }),
            button(words("passcode_forgotten"), async () => {
                if (!(await ask(words("unpair_confirm"), words("unpair")))) return;
                await unpair();
                go("#/");
            }, { class: "plain" }),
        ],
    };
}

export function passcodeScreen({ go }) {
    const { words } = state;
    const passcode = input("new-password");
    const again = input("new-password");
    const fields = [field(words("passcode_label"), passcode), field(words("passcode_again"), again)];
    return {
        title: words("passcode_set"),
        back: "#/settings",
        nodes: [
            element("p", {}, words("passcode_text")),
            form(fields, words("passcode_set"), async () => {
                if (passcode.value.length < minimumLength) return words("passcode_short", { count: minimumLength });
                if (passcode.value !== again.value) return words("passcode_differs");
                await setPasscode(passcode.value);
                say(words("passcode_is_set"));
                go("#/settings");
            }),
        ],
    };
}
