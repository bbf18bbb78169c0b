/* Several phones under one key: showing it to the next phone, and taking another phone's. */

import { ask, button, copy, element, field, form, qrCode, say, textInput } from "../dom.js";
import { keysIn, linkForPhone } from "../pairing.js";
import { canScan, scan } from "../scanner.js";
import { state, takeKey } from "../state.js";

export function addPhoneScreen() {
    const { words, pairing } = state;
    const link = linkForPhone(location.href.split("#")[0], pairing.vapidKey, state.key);
    return {
        title: words("phone_add"),
        back: "#/settings",
        nodes: [
            element("p", {}, words("phone_add_text")),
            element("div", { class: "card code" }, qrCode(link, words("phone_add_label"))),
            button(words("copy"), () => copy(link), { class: "secondary", icon: "copy" }),
        ],
    };
}

export function takeKeyScreen({ go }) {
    const { words } = state;
    const input = textInput();
    const entry = form([field(words("key_label"), input)], words("phone_take_action"), async () => {
        const { vapidKey, key } = await keysIn(input.value);
        if (!key) return words("phone_take_wrong");
        if (vapidKey && vapidKey !== state.pairing.vapidKey) return words("key_other_node");
        if (!(await ask(words("phone_take_confirm"), words("phone_take_action")))) return;
        await takeKey(key);
        say(words("phone_taken"));
        go("#/pair");
    });
    return {
        title: words("phone_take"),
        back: "#/settings",
        nodes: [
            element("p", {}, words("phone_take_text")),
            entry,
            canScan() ? button(words("scan"), async () => {
                const text = await scan();
                if (text === null) return;
                input.value = text;
                entry.requestSubmit();
            }, { class: "secondary", icon: "scan" }) : null,
        ],
    };
}
