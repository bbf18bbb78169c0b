/* The console: takes the link's secret, asks the node, and draws the screen that fits. */

import { call, Refused } from "./calls.js";
import { button, element, icon } from "./dom.js";
import { listen, stopListening } from "./events.js";
import { watch, whenBack } from "./presence.js";
import { accessScreen } from "./screens/access.js";
import { keepScreen } from "./screens/keep.js";
import { loginScreen } from "./screens/login.js";
import { nowScreen } from "./screens/now.js";
import { peopleScreen } from "./screens/people.js";
import { phonesScreen } from "./screens/phones.js";
import { settingsScreen } from "./screens/settings.js";
import { startScreen } from "./screens/start.js";
import { waysScreen } from "./screens/ways.js";
import { learn } from "./said.js";
import { state } from "./state.js";

const screens = {
    "": startScreen, phones: phonesScreen, now: nowScreen, people: peopleScreen, keep: keepScreen, settings: settingsScreen,
    access: accessScreen, ways: waysScreen,
};
/** Screens that are reached from another one: its tab is theirs. */
const parents = { keep: "now", settings: "now", access: "now", ways: "phones" };
const signs = { "": "SETUP_CONFIRMATION", phones: "phone", now: "NODE", people: "shield" };

const route = () => location.hash.replace(/^#\/?/, "");

let shown = null;
let drawing = 0;
/** Whether the screen that was asked for stands there: else it is drawn when the node is back. */
let isDrawn = false;

/** What has changed while a screen asks for what it shows: its answers may be older. */
const missed = new Set();

/** Draws the screen of the address. A screen is an object with a title and nodes, and may have `live`: called with what has changed. */
async function show() {
    const turn = ++drawing;
    isDrawn = false;
    missed.clear();
    await learn();
    const name = Object.hasOwn(screens, route()) ? route() : "";
    let screen;
    let isWhole = true;
    try {
        screen = state.hasEntered ? await screens[name]({ show }) : loginScreen({ show });
    } catch (error) {
        if (!(error instanceof Refused)) throw error;
        isWhole = error.status !== 0;
        screen = error.status === 401 ? loginScreen({ show }) : {
            title: state.words("app_name"), nodes: [element("p", { class: "fault", role: "alert" }, error.message)],
        };
    }
    if (turn !== drawing) return;
    isDrawn = isWhole;
    draw(screen, state.hasEntered ? name : null);
    drawLines();
    for (const kind of missed) redrawn(kind);
}

function draw({ title, nodes, live, isHero, isWide }, name) {
    const { words } = state;
    document.documentElement.lang = state.language;
    document.title = `${title} · ${words("app_name")}`;
    const main = document.getElementById("screen");
    const focused = document.activeElement;
    main.className = isHero ? "hero" : isWide ? "wide" : "";
    main.replaceChildren(...[
        isHero ? element("img", { class: "logo", src: "icons/icon-192.png", alt: "", width: 88, height: 88 }) : null,
        element("h1", { tabindex: -1 }, title), ...nodes,
    ].filter(Boolean));
    if (shown !== null && shown !== name) {
        scrollTo(0, 0);
        document.querySelector("h1").focus({ preventScroll: true });
    } else if (shown === name && (focused === null || focused === document.body || !focused.isConnected)) {
        // Who works with keys goes on here, and not at the top of the document: a screen drawn anew has other elements.
        document.querySelector("h1").focus({ preventScroll: true });
    }
    shown = name;
    current = live ?? null;
    follow();
    drawTabs(name);
}

function drawTabs(name) {
    const { words } = state;
    const tabs = document.getElementById("tabs");
    tabs.hidden = name === null;
    tabs.setAttribute("aria-label", words("app_name"));
    tabs.replaceChildren(...Object.entries(signs).map(([route, sign]) =>
        element("a", { href: `#/${route}`, "aria-current": route === (parents[name] ?? name) ? (route === name ? "page" : "true") : null },
            element("span", { class: "sign" }, icon(sign)), words(`tab_${route || "start"}`))));
}

let asking = 0;

/**
 * Says on every screen that a restart is due, until when fields show what does not hold yet, that the settings are not those that this page
 * has read or written last, and that the node is private.
 */
async function drawLines() {
    const turn = ++asking;
    const isSettings = route() === "settings";
    let [node, version] = [null, null];
    try {
        if (state.hasEntered) [node, { version }] = await Promise.all([call("GET", "state"), call("GET", "settings/version")]);
    } catch (error) {
        if (!(error instanceof Refused)) throw error;
        return;
    }
    if (turn !== asking) return;
    if (!state.isWriting) {
        state.settingsVersion ??= version;
        const isAnother = version !== null && version !== state.settingsVersion;
        const changed = document.getElementById("changed");
        changed.hidden = !isAnother;
        changed.replaceChildren(...!isAnother ? [] : [state.words("fault_changed_meanwhile"), " ", isSettings
            ? button(state.words("settings_again"), show, { class: "small" })
            : element("a", { href: "#/settings" }, state.words("restart_due_where"))]);
    }
    const keys = node?.restart_due ?? [];
    const isPrivate = document.getElementById("private");
    isPrivate.hidden = (node?.onion.invited ?? null) === null;
    isPrivate.textContent = isPrivate.hidden ? "" : state.words("is_private");
    const line = document.getElementById("due");
    line.hidden = keys.length === 0;
    line.replaceChildren(...keys.length === 0 ? [] : [
        state.words("restart_due", { keys: keys.join(", ") }), " ",
        isSettings ? "" : element("a", { href: "#/settings" }, state.words("restart_due_where"))]);
}

/** The node answers again: what could not be drawn is drawn, and what stands there is asked for anew. */
whenBack(() => {
    if (state.hasEntered === null) {
        state.loginFault = "";
        return start();
    }
    if (!isDrawn) return show();
    changed("state");
    stopListening();
    follow();
});

/** What the screen draws anew while it is looked at. */
let current = null;

/** Listens while somebody looks. */
function follow() {
    const isWatched = !document.hidden && state.hasEntered === true;
    watch(isWatched);
    if (!isWatched) return stopListening();
    listen(changed, async () => {
        await changed("state");
        follow();
    });
}

/** One after the other: a change that comes meanwhile is drawn after it, whatever became of the one before. */
let waiting = Promise.resolve();

function redrawn(kind) {
    const drawn = waiting.then(() => redraw(kind));
    waiting = drawn.catch(() => {});
    return drawn;
}

function changed(kind) {
    missed.add(kind);
    if (kind === "state") drawLines();
    return redrawn(kind);
}

async function redraw(kind) {
    if (!current || !state.hasEntered) return;
    try {
        await current(kind);
    } catch (error) {
        if (!(error instanceof Refused)) throw error;
        if (error.status === 401) show();
    }
}

document.addEventListener("visibilitychange", () => {
    if (!document.hidden) changed("state");
    follow();
});

/** A link's secret is spent and leaves the address before anything else happens. */
async function takeLink() {
    const secret = /^#enter=([\w-]{1,100})$/.exec(location.hash)?.[1];
    if (!secret) return;
    history.replaceState(null, "", location.pathname);
    try {
        await call("POST", "session", { link: secret });
        state.hasEntered = true;
    } catch (error) {
        if (!(error instanceof Refused)) throw error;
        state.hasEntered ||= false;
        state.loginFault = error.code === "not_accepted" ? state.words("link_spent") : error.message;
    }
}

async function start() {
    await takeLink();
    if (!state.hasEntered) {
        try {
            await call("GET", "session");
            state.hasEntered = true;
        } catch (error) {
            if (!(error instanceof Refused)) throw error;
            if (error.status !== 0) state.hasEntered = false;
            if (error.status !== 401) state.loginFault = error.message;
        }
    }
    await show();
}

addEventListener("hashchange", async () => {
    await takeLink();
    show();
});

/** A change was written that may need a restart. */
addEventListener("settings", drawLines);

start();
