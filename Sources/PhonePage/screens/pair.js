/* The pairing token for Bisq: as QR code, to copy, by mail. */

import { button, copy, element, icon, qrCode } from "../dom.js";
import { pairingToken } from "../pairing.js";
import { settleMove, state } from "../state.js";

export function pairScreen({ go }) {
    const { words, pairing } = state;
    const token = pairingToken(pairing.subscription, state.key);
    const mail = `mailto:?subject=${encodeURIComponent(words("pair_mail_subject"))}&body=${encodeURIComponent(token)}`;
    const isConfirmed = pairing.confirmed > 0 && !pairing.moved;
    return {
        title: words("pair_title"),
        back: "#/",
        nodes: [
            element("p", {}, words("pair_text")),
            element("div", { class: "card code" },
                qrCode(token, words("pair_code_label")),
                element("p", { class: isConfirmed ? "state is-good" : "state", role: "status" },
                    isConfirmed ? icon("SETUP_CONFIRMATION") : element("span", { class: "pulse", "aria-hidden": "true" }),
                    words(isConfirmed ? "pair_done" : "pair_waiting"))),
            element("div", { class: "actions side" },
                button(words("pair_copy"), () => copy(token), { class: "secondary", icon: "copy" }),
                element("a", { class: "button secondary", href: mail, rel: "noreferrer" }, icon("mail"), words("pair_mail"))),
            element("p", { class: "note" }, words("pair_mail_warning")),
            element("details", { class: "card" }, element("summary", {}, words("pair_show_token"), icon("forward")),
                element("code", { id: "token", tabindex: 0 }, token)),
            element("p", { class: "note" }, words("pair_node")),
            button(words("pair_finish"), async () => {
                await settleMove();
                go("#/");
            }, { class: "primary" }),
        ],
    };
}
