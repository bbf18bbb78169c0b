/* What this is, and turning notifications on. */

import { button, copy, element, group, icon } from "../dom.js";
import { isInstalled, canReceive, needsHomeScreen } from "../platform.js";
import { linkForPhone } from "../pairing.js";
import { nodeKey, pair, state } from "../state.js";
import { vapidKey as bakedKey } from "../deployed.js";

/** The browser's own offer to install the page, where it makes one. */
let installOffer = null;
addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    installOffer = event;
});

export function welcomeScreen({ go }) {
    const { words } = state;
    return {
        title: words("welcome_title"),
        isHero: true,
        nodes: [
            element("p", { class: "lead" }, words("welcome_text")),
            needsHomeScreen() ? homeScreenSteps() : starting(go),
            element("ul", { class: "points" }, point("private", "shield"), point("open", "phone"), point("asleep", "moon")),
            help(),
        ],
    };
}

const point = (name, sign) => element("li", {}, icon(sign), element("div", {},
    element("strong", {}, state.words(`point_${name}_title`)), element("p", {}, state.words(`point_${name}`))));

function starting(go) {
    const { words } = state;
    const fault = element("p", { class: "fault", role: "alert" });
    if (!canReceive()) {
        fault.textContent = words("failed_unsupported");
        return fault;
    }
    const start = button(words("start"), async () => {
        if (!nodeKey()) return go("#/key");
        start.disabled = true;
        start.textContent = words("starting");
        fault.textContent = "";
        try {
            await pair();
            go("#/pair");
        } catch (error) {
            fault.textContent = reasonOf(error);
            start.disabled = false;
            start.textContent = words("start");
        }
    }, { class: "primary" });
    const install = installOffer && !isInstalled()
        ? button(words("install"), () => installOffer?.prompt().catch(() => {}), { class: "secondary" })
        : null;
    return element("div", { class: "actions" }, start, fault, install);
}

/** An app on the Home Screen starts with a storage of its own, and without what was behind the link's `#`. */
function homeScreenSteps() {
    const { words } = state;
    const needsKey = !bakedKey && nodeKey();
    const link = linkForPhone(location.href.split("#")[0], nodeKey(), state.takenKey);
    return element("section", { class: "card" },
        element("h2", {}, words("iphone_title")),
        element("p", {}, words("iphone_text")),
        element("ol", { class: "steps" },
            needsKey ? element("li", {}, element("span", {}, words("iphone_step_key")),
                button(words("iphone_copy_key"), () => copy(link), { class: "secondary", icon: "copy" })) : null,
            element("li", {}, element("span", {}, words("iphone_step_share")), icon("share")),
            element("li", {}, element("span", {}, words("iphone_step_open")))));
}

function help() {
    const { words } = state;
    const devices = ["iphone", "android", "desktop", "tor"];
    return group(words("another_device"), devices.map((device) =>
        element("details", {}, element("summary", {}, words(`help_${device}`), icon("forward")),
            element("p", {}, words(`help_${device}_text`)))));
}

/** What the browser's error means to its user. */
export function reasonOf(error) {
    const { words } = state;
    switch (error.name) {
        case "NotAllowedError": return words("failed_blocked");
        case "AbortError": return words("failed_unreachable");
        case "TimeoutError": return words("failed_late");
        case "NotSupportedError": return words("failed_unsupported");
        default: return words("failed_other", { error: `${error.name}: ${error.message}` });
    }
}
