/* The service worker: opens pushes, shows each of them, and keeps the page for when there is no network.

   Every push shows a notification, whatever is in it and whatever fails: browsers end a subscription that stays silent. */

import { digestOf } from "./bytes.js";
import { files, version } from "./deployed.js";
import { longestWork } from "./limits.js";
import { open } from "./messages.js";
import { messageOf, titleOf } from "./notices.js";
import { changeSetting, keepLockedPush, keepPush, obeyErase, place, setting, unreadCount } from "./store.js";
import { isSame, subscribe, within } from "./subscription.js";
import { languageFor, wordsIn } from "./words.js";

const cachePrefix = `${place} `;
const cacheName = cachePrefix + version;
const pages = new BroadcastChannel(place);

/** One push after the other: ERASE must not overtake. */
let previous = Promise.resolve();

self.addEventListener("push", (event) => {
    const text = textOf(event.data);
    previous = previous.catch(() => {}).then(() => receive(text));
    event.waitUntil(previous);
});

function textOf(data) {
    try {
        return data?.text() ?? "";
    } catch {
        return "";
    }
}

async function receive(text) {
    let shown = { kind: "unreadable", digest: "unreadable" };
    let preferences = {};
    const work = async () => {
        preferences = (await setting("preferences")) ?? {};
        shown = await take(text);
    };
    await within(longestWork, work()).catch(() => {}); // What could be learnt is shown.
    await show(shown, preferences);
    pages.postMessage("changed");
    await within(longestWork, badge()).catch(() => {});
}

/** Opens a push, keeps it, and says what to show: a notice, or that it is locked or can't be read. */
async function take(text) {
    const digest = await digestOf(text);
    const pairing = await setting("pairing");
    if (!pairing) return { kind: "unreadable", digest };
    const push = { digest, text: text.slice(0, 8192), received: Date.now(), isRead: false };
    if (pairing.wrapped) return { kind: "locked", digest, id: await keepLockedPush(push).catch(() => undefined) };

    let notice;
    try {
        notice = await open(text, pairing.key);
    } catch {
        return { kind: "unreadable", digest };
    }
    const isErase = notice.kind === "ERASE";
    const shown = { kind: "notice", notice, digest, isIgnored: isErase };
    try {
        if (isErase) shown.isIgnored = !(await erase({ ...push, notice }));
        else shown.id = await keepPush({ ...push, notice });
        if (notice.kind === "SETUP_CONFIRMATION") await confirm();
    } catch {
        shown.isLost = true;
    }
    return shown;
}

/** Whether it was obeyed. */
async function erase(push) {
    const kept = await obeyErase(push);
    if (!kept) return false;
    for (const notification of await registration.getNotifications())
        if (!kept.includes(notification.data?.id)) notification.close();
    return true;
}

/** Bisq has taken the pairing token, so it knows this phone's address. */
const confirm = () =>
    changeSetting("pairing", (pairing) => pairing && { ...pairing, confirmed: Date.now(), moved: 0 });

async function show(shown, preferences) {
    const language = languageFor(preferences.language);
    const words = wordsIn(language);
    let title = "Bisq";
    let body = words(shown.kind === "locked" ? "locked_push" : "unreadable_push");
    if (shown.kind === "notice") {
        title = titleOf(shown.notice, words);
        body = messageOf(shown.notice, words);
        if (shown.notice.kind === "NODE") title = `${words("kind_NODE")}: ${title}`;
        if (shown.isIgnored) [title, body] = ["Bisq", words("not_erased_text")];
        if (shown.isLost) body = `${body}\n${words("not_kept")}`;
    }
    await showNotification(title, {
        body, lang: language, tag: shown.digest, data: { id: shown.id }, silent: isSilent(preferences),
    });
}

/** The number on the app's icon, where there is one. */
const badge = async () => navigator.setAppBadge?.(await unreadCount());

const isSilent = (preferences) => preferences.isSilent === true;

const showNotification = (title, options) =>
    registration.showNotification(title, { icon: "icons/icon-192.png", badge: "icons/badge-96.png", ...options });

/** The push service gave this browser another address, or none. Bisq can't be told from here; its user must. */
self.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renew()));

async function renew() {
    const pairing = await setting("pairing");
    if (!pairing) return;
    let subscription = null;
    try {
        subscription = await subscribe(registration, pairing.vapidKey);
    } catch {
        // The page tries again when it is opened.
    }
    if (isSame(subscription, pairing.subscription)) return;
    const moved = (now) => ({ ...now, subscription: subscription ?? now.subscription, moved: Date.now() });
    await changeSetting("pairing", (now) => now && moved(now));
    const preferences = (await setting("preferences")) ?? {};
    const words = wordsIn(languageFor(preferences.language));
    await showNotification(words("moved_title"), {
        body: words("moved_text"), tag: "moved", data: { screen: "pair" }, silent: isSilent(preferences),
    });
    pages.postMessage("changed");
}

self.addEventListener("notificationclick", (event) => {
    event.notification.close();
    const { id, screen } = event.notification.data ?? {};
    event.waitUntil(openPage(id ? `#/notice/${id}` : screen ? `#/${screen}` : "#/"));
});

async function openPage(fragment) {
    const windows = await clients.matchAll({ type: "window", includeUncontrolled: true });
    const page = windows.find(({ url }) => url.startsWith(registration.scope));
    if (!page) return clients.openWindow(new URL(fragment, registration.scope).href);
    await page.focus().catch(() => {});
    page.postMessage({ fragment });
}

/* Without a network: the files of this version, all or none. */

self.addEventListener("install", (event) => {
    self.skipWaiting();
    if (files.length === 0) return;
    const requests = files.map((file) => new Request(file, { cache: "no-cache" }));
    event.waitUntil(caches.open(cacheName).then((cache) => cache.addAll(requests)));
});

self.addEventListener("activate", (event) => event.waitUntil(forgetOlderVersions()));

async function forgetOlderVersions() {
    for (const name of await caches.keys())
        if (name.startsWith(cachePrefix) && name !== cacheName) await caches.delete(name);
    await clients.claim();
}

const addresses = new Set(files.map((file) => new URL(file, registration.scope).href));

self.addEventListener("fetch", (event) => {
    const { method, url } = event.request;
    const address = url.split(/[?#]/)[0].replace(/\/index\.html$/, "/");
    if (method === "GET" && addresses.has(address)) event.respondWith(fromCache(address, event.request));
});

async function fromCache(address, request) {
    const kept = await caches.match(address, { cacheName }).catch(() => undefined);
    return kept ?? fetch(request);
}
