/* The pairing token for Bisq: as text to copy, and as QR code for a Bisq 1 that still reads one. */

import { button, copy, element, icon, qrCode } from "../dom.js";
import { pairingToken } from "../pairing.js";
import { settleMove, state } from "../state.js";

export function pairScreen({ go }) {
    const { words, pairing } = state;
    const token = pairingToken(pairing.subscription, state.key);
    const isConfirmed = pairing.confirmed > 0 && !pairing.moved;
    return {
        title: words("pair_title"),
        back: "#/",
        nodes: [
            element("p", {}, words("pair_text")),
            element("div", { class: "card token" },
                element("code", { id: "token", tabindex: 0 }, token),
                button(words("pair_copy"), () => copy(token), { class: "primary", icon: "copy" }),
                element("p", { class: isConfirmed ? "state is-good" : "state", role: "status" },
                    isConfirmed ? icon("SETUP_CONFIRMATION") : element("span", { class: "pulse", "aria-hidden": "true" }),
                    words(isConfirmed ? "pair_done" : "pair_waiting"))),
            element("p", { class: "note" }, words("pair_secret")),
            element("p", { class: "note" }, words("pair_node")),
            element("details", { class: "card" }, element("summary", {}, words("pair_show_code"), icon("forward")),
                element("p", {}, words("pair_code_text")),
                element("div", { class: "code" }, qrCode(token, words("pair_code_label")))),
            button(words("pair_finish"), async () => {
                await settleMove();
                go("#/");
            }, { class: "secondary" }),
        ],
    };
}
