/* Entering the node's key, by paste or by camera. */

import { button, element, field, form, textInput } from "../dom.js";
import { prefer, state } from "../state.js";
import { keysIn } from "../pairing.js";
import { canScan, scan } from "../scanner.js";

export function keyScreen({ go }) {
    const { words } = state;
    const input = textInput();
    const take = async () => {
        const { vapidKey, key } = await keysIn(input.value);
        if (!vapidKey) return words("key_wrong");
        state.takenKey = key;
        await prefer({ vapidKey });
        go("#/");
    };
    const entry = form([field(words("key_label"), input)], words("next"), take);
    return {
        title: words("key_title"),
        back: "#/",
        nodes: [
            element("p", {}, words("key_text")),
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
