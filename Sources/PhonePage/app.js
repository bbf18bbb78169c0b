/* The page: starts the worker, follows the fragment, and draws the screen that fits. */

import { vapidKey as bakedKey } from "./deployed.js";
import { ask, element, icon, say } from "./dom.js";
import { keysIn } from "./pairing.js";
import { canReceive } from "./platform.js";
import { keyScreen } from "./screens/key.js";
import { listScreen, noticeScreen } from "./screens/list.js";
import { lockScreen, passcodeScreen } from "./screens/lock.js";
import { pairScreen } from "./screens/pair.js";
import { addPhoneScreen, takeKeyScreen } from "./screens/phones.js";
import { reportScreen, settingsScreen } from "./screens/settings.js";
import { welcomeScreen } from "./screens/welcome.js";
import {
    isLocked, lock, prefer, refresh, renew, startWorker, state, takeKey, unpair, unreadCount,
} from "./state.js";
import { place } from "./store.js";

/** Screens that follow what the worker does. The others may hold what the user is typing. */
const liveScreens = ["", "pair"];
const longestAway = 60_000;

const screens = {
    "": listScreen, pair: pairScreen, settings: settingsScreen, phone: addPhoneScreen, take: takeKeyScreen,
    passcode: passcodeScreen, report: reportScreen,
};

const route = () => location.hash.replace(/^#\/?/, "").split("/");

function go(fragment) {
    if (location.hash === fragment || (fragment === "#/" && location.hash === "")) show();
    else location.hash = fragment;
}

function screenNow() {
    const [name, detail] = route();
    const actions = { go, show, id: Number(detail) };
    if (isLocked()) return lockScreen(actions);
    if (!state.pairing) return name === "key" ? keyScreen(actions) : welcomeScreen(actions);
    if (name === "notice") return noticeScreen(actions);
    return (Object.hasOwn(screens, name) ? screens[name] : listScreen)(actions);
}

let shownRoute = null;

function show() {
    draw(screenNow());
    const now = location.hash;
    if (shownRoute !== null && shownRoute !== now) {
        scrollTo(0, 0);
        document.querySelector("h1").focus({ preventScroll: true });
    }
    shownRoute = now;
}

function draw({ title, nodes, back, isHero }) {
    const { words } = state;
    document.documentElement.lang = state.language;
    document.title = `${title} · ${words("app_name")}`;
    const main = document.getElementById("screen");
    const focused = main.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    main.className = isHero ? "hero" : "";
    main.replaceChildren(...[
        back ? element("a", { class: "back", href: back }, icon("back"), words("back")) : null,
        isHero ? element("img", { class: "logo", src: "icons/icon-192.png", alt: "", width: 88, height: 88 }) : null,
        element("h1", { tabindex: -1 }, title),
        ...nodes,
    ].filter(Boolean));
    // A list that is drawn anew must not take the place away from who walks it by keyboard.
    if (focused) main.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    drawTabs();
}

const drawFault = (text) =>
    draw({ title: state.words("app_name"), nodes: [element("p", { class: "fault", role: "alert" }, text)] });

function drawTabs() {
    const { words } = state;
    const tabs = document.getElementById("tabs");
    tabs.hidden = !state.pairing || isLocked();
    tabs.setAttribute("aria-label", words("app_name"));
    const isSettings = ["settings", "phone", "take", "passcode", "report"].includes(route()[0]);
    const bubble = (count) => element("span", { class: "count", "aria-label": words("unread_count", { count }), role: "img" },
        count > 99 ? "99+" : String(count));
    const tab = (href, sign, text, isNow, count) => element("a", { href, "aria-current": isNow ? "page" : null },
        element("span", { class: "sign" }, icon(sign), count ? bubble(count) : null), text);
    tabs.replaceChildren(
        tab("#/", "bell", words("list_title"), !isSettings, unreadCount()),
        tab("#/settings", "settings", words("settings_title"), isSettings, 0));
    const count = unreadCount();
    if (count > 0) navigator.setAppBadge?.(count).catch(() => {});
    else if (!isLocked()) navigator.clearAppBadge?.().catch(() => {});
}

/**
 * Takes keys from the fragment and removes them from the address. A link comes from anywhere, so it never replaces what is
 * there without asking: who made the key could read along.
 */
async function takeFragment() {
    if (!/^#(k|p)=/.test(location.hash)) return;
    const { vapidKey, key } = await keysIn(location.hash);
    history.replaceState(null, "", location.pathname + location.search);
    const { words, pairing } = state;
    const askHere = (question, action) => {
        show();
        return ask(question, action);
    };
    if (bakedKey && vapidKey && vapidKey !== bakedKey) return say(words("key_other_node"));
    if (!pairing) {
        if (vapidKey) await prefer({ vapidKey });
        if (key && (await askHere(words("phone_take_confirm"), words("phone_take_action")))) state.takenKey = key;
        return;
    }
    if (vapidKey && vapidKey !== pairing.vapidKey) {
        if (!(await askHere(words("other_node_confirm"), words("unpair")))) return;
        await unpair();
        await prefer({ vapidKey });
        state.takenKey = key;
    } else if (key && key !== state.key && !pairing.wrapped) {
        if (await askHere(words("phone_take_confirm"), words("phone_take_action"))) await takeKey(key);
    }
}

/** The worker's script is the only one that the page loads by a text, so it is the only one that Trusted Types let pass. */
const workerURL = () => {
    const url = new URL("worker.js", document.baseURI).href;
    return window.trustedTypes?.createPolicy("onionbell", { createScriptURL: () => url }).createScriptURL("") ?? url;
};

async function start() {
    try {
        await refresh();
    } catch {
        return drawFault(state.words("failed_storage"));
    }
    if (canReceive()) {
        startWorker(async () => {
            await navigator.serviceWorker.register(workerURL(), { type: "module" });
            return navigator.serviceWorker.ready;
        });
        navigator.serviceWorker.addEventListener("message", ({ data }) => data?.fragment && go(data.fragment));
    }
    await takeFragment();
    show();
    if (!state.pairing) return;
    await renew();
    showLive();
}

/** Draws what the worker has changed, where that disturbs nobody: not while a passcode is being typed. */
async function follow() {
    const wasLocked = isLocked();
    await refresh();
    if (isLocked() && !wasLocked) show();
    else showLive();
}

function showLive() {
    if (isLocked()) return;
    if (liveScreens.includes(route()[0])) show();
    else drawTabs();
}

let hiddenSince = 0;

addEventListener("hashchange", async () => {
    await takeFragment();
    show();
});
document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
        hiddenSince = Date.now();
        return;
    }
    if (state.pairing?.wrapped && Date.now() - hiddenSince > longestAway) {
        lock();
        show();
    }
    follow();
});
new BroadcastChannel(place).addEventListener("message", follow);

start().catch((error) => drawFault(state.words("failed_other", { error: `${error.name}: ${error.message}` })));
