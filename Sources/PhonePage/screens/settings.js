/* Settings, as phones have them: groups of rows. */

import { version } from "../deployed.js";
import { ask, button, copy, element, fact, group, row, say } from "../dom.js";
import { isAndroid, isInstalled, isIOS } from "../platform.js";
import { eraseAll, lock, prefer, registration, removePasscode, renew, state, unpair } from "../state.js";
import { languageNames } from "../words.js";
import { reasonOf } from "./welcome.js";

export function settingsScreen({ go, show }) {
    const { words } = state;
    return {
        title: words("settings_title"),
        nodes: [delivery(go, show), phones(go), privacy(go, show), soundAndLanguage(show), data(go, show),
            element("p", { class: "note" }, words("version", { version }))],
    };
}

const hostOf = (subscription) => new URL(subscription.endpoint).host;

function delivery(go, show) {
    const { words, pairing, isLost, language } = state;
    const date = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
    return group(words("section_delivery"), [
        element("dl", {},
            fact(words("state"), words(isLost ? "state_off" : "state_on")),
            fact(words("state_service"), hostOf(pairing.subscription)),
            fact(words("state_confirmed"), pairing.confirmed ? date.format(pairing.confirmed) : words("never"))),
        row(words("pair_title"), () => go("#/pair")),
        row(words("renew"), async () => {
            try {
                await renew(true);
                if (state.pairing.moved) go("#/pair");
                else say(words("renewed_same"));
            } catch (error) {
                say(reasonOf(error));
            }
            show();
        }, { isAction: true }),
    ]);
}

function phones(go) {
    const { words, pairing } = state;
    return group(words("section_phones"), [
        row(words("phone_add"), () => go("#/phone")),
        pairing.wrapped ? null : row(words("phone_take"), () => go("#/take")),
    ].filter(Boolean), words("phones_text"));
}

function privacy(go, show) {
    const { words, pairing } = state;
    const rows = pairing.wrapped
        ? [
            row(words("lock_now"), () => {
                lock();
                show();
            }, { isAction: true }),
            row(words("passcode_remove"), async () => {
                await removePasscode();
                say(words("passcode_removed"));
                show();
            }, { isAction: true }),
        ]
        : [row(words("passcode_set"), () => go("#/passcode"))];
    return group(words("section_privacy"), rows, words("passcode_text"));
}

function soundAndLanguage(show) {
    const { words, preferences } = state;
    const sound = element("input", { type: "checkbox", role: "switch", checked: !preferences.isSilent,
        onchange: () => prefer({ isSilent: !sound.checked }) });
    const language = element("select", { onchange: async () => {
        await prefer({ language: language.value });
        show();
    } }, [["", words("language_auto")], ...languageNames].map(([code, name]) =>
        element("option", { value: code, lang: code || null, selected: (preferences.language ?? "") === code }, name)));
    const device = isIOS ? "ios" : isAndroid ? "android" : "desktop";
    return group(words("section_look"), [
        element("label", { class: "row" }, element("span", {}, words("sound")), sound),
        row(words("test"), () => registration().then((worker) => worker.showNotification(words("app_name"), {
            body: words("test_text"), tag: "test", icon: "icons/icon-192.png", badge: "icons/badge-96.png",
            silent: Boolean(state.preferences.isSilent), lang: state.language,
        })).catch((error) => say(reasonOf(error))), { isAction: true }),
        element("label", { class: "row" }, element("span", {}, words("language_label")), language),
    ], words(`sound_hint_${device}`));
}

function data(go, show) {
    const { words } = state;
    return group(words("section_data"), [
        row(words("report"), () => go("#/report")),
        row(words("erase_all"), async () => {
            if (!(await ask(words("erase_confirm"), words("erase_all")))) return;
            await eraseAll();
            say(words("erased"));
            show();
        }, { isAction: true, class: "danger" }),
        row(words("unpair"), async () => {
            if (!(await ask(words("unpair_confirm"), words("unpair")))) return;
            await unpair();
            go("#/");
        }, { isAction: true, class: "danger" }),
    ]);
}

/** What helps a helper, and nothing by which someone could read, ring or recognize this phone. */
export function reportScreen() {
    const { words } = state;
    const text = report();
    return {
        title: words("report"),
        back: "#/settings",
        nodes: [
            element("p", {}, words("report_text")),
            element("pre", { class: "card", tabindex: 0, id: "report" }, text),
            button(words("copy"), () => copy(text), { class: "secondary", icon: "copy" }),
        ],
    };
}

function report() {
    const { pairing, pushes, preferences, isLost } = state;
    const day = (time) => (time ? new Date(time).toISOString().slice(0, 10) : "never");
    return Object.entries({
        version,
        browser: navigator.userAgent,
        installed: isInstalled(),
        permission: Notification.permission,
        worker: navigator.serviceWorker?.controller?.state ?? "none",
        delivery: isLost ? "off" : "on",
        "push service": hostOf(pairing.subscription),
        "endpoint length": pairing.subscription.endpoint.length,
        "confirmed by Bisq": day(pairing.confirmed),
        "address changed": day(pairing.moved),
        passcode: Boolean(pairing.wrapped),
        silent: Boolean(preferences.isSilent),
        language: state.language,
        notifications: pushes.length,
        "last notification": day(Math.max(0, ...pushes.map((push) => push.received))),
        "today, by this device": day(Date.now()),
    }).map(([name, value]) => `${name}: ${value}`).join("\n");
}
