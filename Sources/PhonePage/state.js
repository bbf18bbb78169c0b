/* What the page knows, and what can be done to it. The screens show it.

   Settings kept: `pairing` is {vapidKey, key or wrapped, subscription, confirmed, moved}: the node's key, the pairing key
   in clear or behind a passcode, the subscription that Bisq was told of, and when Bisq confirmed it or the push service
   changed it (0: never). `preferences` is {language, isSilent, vapidKey}. */

import { vapidKey as bakedKey } from "./deployed.js";
import { longestRegistration } from "./limits.js";
import { open, Unopened } from "./messages.js";
import { byTime } from "./notices.js";
import { unwrap, wrap } from "./passcode.js";
import { newKey } from "./pairing.js";
import { asksForStorage } from "./platform.js";
import * as store from "./store.js";
import { current, isSame, subscribe, unsubscribe, within } from "./subscription.js";
import { languageFor, wordsIn } from "./words.js";

export const state = {
    pairing: null,
    preferences: {},
    /** The pairing key while it is not locked. */
    key: null,
    /** What stood in the storage as `wrapped` when `key` was opened, or sealed, here. */
    opened: null,
    /** Pushes that could be opened, the newest first. */
    pushes: [],
    /** The delivery has ended and needs the user to turn it on again. */
    isLost: false,
    /** How many were not kept while the key was locked: told until it is locked again. */
    missed: 0,
    /** Another phone's key, for the pairing that comes. */
    takenKey: "",
    words: wordsIn(languageFor("")),
    language: "en",
};

let registering = Promise.reject(new DOMException("no worker", "NotSupportedError"));
registering.catch(() => {});

/** Begins to register the worker. The page does not wait for it: the worker first fetches all files. */
export function startWorker(register) {
    registering = within(longestRegistration, register());
    registering.catch(() => {});
}

/** The worker's registration once it runs. Rejects where it can't. */
export const registration = () => registering;

export const isLocked = () => Boolean(state.pairing?.wrapped) && state.key === null;
export const nodeKey = () => bakedKey || state.preferences.vapidKey || "";
export const unreadCount = () => state.pushes.filter((push) => !push.isRead).length;

let reading = Promise.resolve();

/** Reads everything anew, one time after the other: each obeys what it finds. Throws when the browser keeps nothing here. */
export function refresh() {
    reading = reading.catch(() => {}).then(read);
    return reading;
}

async function read() {
    state.pairing = (await store.setting("pairing")) ?? null;
    state.preferences = (await store.setting("preferences")) ?? {};
    state.language = languageFor(state.preferences.language);
    state.words = wordsIn(state.language);
    if (!state.pairing) state.key = null;
    else if (!state.pairing.wrapped) state.key = state.pairing.key;
    else if (!isSameSeal(state.pairing.wrapped, state.opened)) lock(); // Another window has set this passcode.
    state.pushes = state.key === null ? [] : await openedPushes();
}

/** What is sealed twice is another text each time, even with one passcode: the salt is another one. */
const isSameSeal = (one, other) => other !== null && one.salt.every((byte, at) => byte === other.salt[at]);

/** Notices of locked pushes, by id: they are opened once and never written in clear. */
const notices = new Map();

async function openedPushes() {
    const key = state.key; // It may be locked while this goes on.
    let opened = [];
    for (const push of await store.allPushes()) {
        const notice = push.notice ?? notices.get(push.id) ?? (await openedOrNull(push.text, key));
        if (notice === null) {
            await store.changePush(push.id, () => undefined);
            continue;
        }
        notices.set(push.id, notice);
        if (notice.kind === "ERASE") {
            const kept = await store.obeyErase({ ...push, notice }, opened);
            if (kept) opened = opened.filter(({ id }) => kept.includes(id));
            continue;
        }
        if (notice.kind === "SETUP_CONFIRMATION" && push.received > state.pairing.confirmed) {
            const { received } = push;
            await changePairing((now) => ({ ...now, confirmed: received, moved: received > now.moved ? 0 : now.moved }));
        }
        opened.push({ ...push, notice });
    }
    // What was kept while it was locked, and opens, counts as everything else.
    if (opened.length > store.capacity)
        await store.letOldestGo((count) => Math.min(count, opened.length) - store.capacity);
    return opened.slice(-store.capacity).sort(byTime);
}

/** `null` for what this key will never open. */
async function openedOrNull(text, key) {
    try {
        return await open(text, key);
    } catch (error) {
        if (error instanceof Unopened) return null;
        throw error;
    }
}

async function changePairing(change) {
    state.pairing = (await store.changeSetting("pairing", (now) => now && change(now))) ?? null;
}

export async function prefer(change) {
    state.preferences = await store.changeSetting("preferences", (now) => ({ ...now, ...change }));
    await refresh();
}

/** Subscribes and makes a key, right in the tap: iOS wants it so. Throws what the browser says. */
export async function pair() {
    if ((await Notification.requestPermission()) !== "granted") throw new DOMException("", "NotAllowedError");
    const subscription = await subscribe(await registration(), nodeKey());
    const pairing = { vapidKey: nodeKey(), key: state.takenKey || newKey(), subscription, confirmed: 0, moved: 0 };
    await store.changeSetting("pairing", () => pairing);
    state.takenKey = "";
    state.isLost = false;
    if (!asksForStorage) navigator.storage?.persist?.().catch(() => {});
    await refresh();
}

/**
 * Compares the subscription with the one that Bisq was told of, and subscribes anew where there is none. With `isAsked`
 * the user has tapped, so permission may be asked for.
 */
export async function renew(isAsked = false) {
    if (!state.pairing) return;
    if (isAsked && (await Notification.requestPermission()) !== "granted") throw new DOMException("", "NotAllowedError");
    let subscription = null;
    try {
        if (Notification.permission === "granted") {
            const worker = await registration();
            subscription = (await current(worker)) ?? (await subscribe(worker, state.pairing.vapidKey));
        }
    } catch (error) {
        if (isAsked) throw error;
    }
    state.isLost = subscription === null;
    if (subscription && !isSame(subscription, state.pairing.subscription))
        await changePairing((now) => ({ ...now, subscription, moved: Date.now() }));
}

/** The user has given Bisq the address that the screen shows. */
export function settleMove() {
    const { subscription } = state.pairing;
    return changePairing((now) => (isSame(now.subscription, subscription) ? { ...now, moved: 0 } : now));
}

export async function unpair() {
    await registration().then(unsubscribe).catch(() => {});
    await store.unpair();
    await closeNotifications();
    notices.clear();
    state.key = null;
    state.isLost = false;
    await refresh();
}

async function closeNotifications() {
    const shown = await registration().then((worker) => worker.getNotifications()).catch(() => []);
    for (const notification of shown) notification.close();
}

/** Replaces this phone's key by another phone's. What was sealed with the old one is opened already, or lost. */
export async function takeKey(key) {
    await store.replaceAll(({ wrapped, ...now }) => ({ ...now, key, confirmed: 0 }),
        (push) => (push.notice ? push : undefined));
    state.key = key;
    await refresh();
}

/** With a passcode only what came is kept, sealed as it came; the notices made of it go. */
export async function setPasscode(passcode) {
    const wrapped = await wrap(state.key, passcode);
    await store.replaceAll(({ key, ...now }) => ({ ...now, wrapped }), ({ notice, ...push }) => push);
    state.opened = wrapped;
    await refresh();
}

export async function removePasscode() {
    const { key } = state;
    const opened = new Map(state.pushes.map((push) => [push.id, push.notice]));
    await store.replaceAll(({ wrapped, ...now }) => ({ ...now, key }),
        (push) => (opened.has(push.id) ? { ...push, notice: opened.get(push.id) } : push));
    await refresh();
}

/** Whether it was the passcode. */
export async function unlock(passcode) {
    const { wrapped } = state.pairing;
    const key = await unwrap(wrapped, passcode);
    if (key === null) return false;
    state.key = key;
    state.opened = wrapped;
    await store.changeSetting("missed", (count) => {
        state.missed = count ?? 0;
    });
    await refresh();
    return true;
}

export function lock() {
    notices.clear();
    state.key = null;
    state.missed = 0;
    state.pushes = [];
}

export async function markRead(id) {
    const shown = state.pushes.find((push) => push.id === id);
    if (shown) shown.isRead = true; // At once: the list may be drawn before the storage has it.
    await store.changePush(id, (push) => ({ ...push, isRead: true }));
}

export async function markAllRead() {
    await store.markAllRead(new Set(state.pushes.map(({ id }) => id)));
    await refresh();
}

export async function removePush(id) {
    await store.changePush(id, () => undefined);
    await refresh();
}

export async function eraseAll() {
    await store.erasePushes();
    await closeNotifications();
    await refresh();
}
