/* What the page keeps, in IndexedDB. The page and its worker both use it; all else belongs to one of them.

   `settings`: `pairing` and `preferences`, see state.js; `erased`, the date of the last ERASE that was obeyed; `missed`, how
   many pushes were not kept while a passcode locked the key.
   `pushes`: what came, in the order in which it came: {id, digest, text, received, isRead, notice}. `text` is the push as it
   came; `notice` is what messages.js made of it, and is missing while a passcode locks the key. */

import { isErased, isObeyed } from "./notices.js";

/** The folder that this page is served from. Two pages on one host must not share anything. */
export const place = `onionbell ${new URL("./", import.meta.url).pathname}`;

/** The oldest pushes go when there are more. */
export const capacity = 1000;

/**
 * While a passcode locks the key nobody can tell Bisq's pushes from a stranger's, and a flood must not push out what came
 * before it. So the first that come stay, 500 at least beside what is there, and the last hundred; those in between go.
 */
const lockedFirst = capacity + 500;
const lockedLast = 100;

let opening = null;

function database() {
    opening ??= new Promise((resolve, reject) => {
        const request = indexedDB.open(place, 1);
        request.onupgradeneeded = () => {
            request.result.createObjectStore("settings");
            const pushes = request.result.createObjectStore("pushes", { keyPath: "id", autoIncrement: true });
            pushes.createIndex("digest", "digest", { unique: true });
        };
        request.onsuccess = () => {
            const forget = () => (opening = null);
            request.result.onversionchange = () => {
                request.result.close();
                forget();
            };
            request.result.onclose = forget;
            resolve(request.result);
        };
        request.onerror = () => reject(request.error);
        request.onblocked = () => reject(new Error("the storage is in use by an older page"));
    }).catch((error) => {
        opening = null;
        throw error;
    });
    return opening;
}

/**
 * Runs `work` in one transaction over both stores and gives what it returns, once the transaction is complete.
 *
 * `work` gets the two stores and may await requests by `result`. An error undoes all of it.
 */
async function transaction(mode, work) {
    const transaction = (await database()).transaction(["settings", "pushes"], mode);
    const completed = new Promise((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error ?? new Error("undone"));
    });
    completed.catch(() => {});
    let value;
    try {
        value = await work(transaction.objectStore("settings"), transaction.objectStore("pushes"));
    } catch (error) {
        try {
            transaction.abort();
        } catch {
            // It is undone already.
        }
        throw error;
    }
    await completed;
    return value;
}

function result(request) {
    return new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
}

export const setting = (name) => transaction("readonly", (settings) => result(settings.get(name)));

/** Replaces a setting by what `change` makes of it; `undefined` removes it. Gives the new value. */
export const changeSetting = (name, change) =>
    transaction("readwrite", async (settings) => {
        const value = change(await result(settings.get(name)));
        await result(value === undefined ? settings.delete(name) : settings.put(value, name));
        return value;
    });

/**
 * Keeps one push, unless the same text is there already, and lets the oldest go. When the storage is full, half of the
 * pushes make room; throws when even that does not help.
 *
 * Gives the push's id; `undefined` where there is no pairing.
 */
export async function keepPush(push) {
    try {
        return await insert(push, (_, pushes) => drop(pushes, (count) => count - capacity));
    } catch (error) {
        if (error?.name !== "QuotaExceededError") throw error;
    }
    await letOldestGo((count) => Math.floor(count / 2));
    return insert(push, (_, pushes) => drop(pushes, (count) => count - capacity));
}

/** Keeps one push while the key is locked. Gives its id; when the storage is full it throws, and nothing goes for it. */
export async function keepLockedPush(push) {
    try {
        return await insert(push, dropBetween);
    } catch (error) {
        await changeSetting("missed", (count) => (count ?? 0) + 1).catch(() => {});
        throw error;
    }
}

/**
 * The worker has read the pairing before, and it may be another one by now: behind a passcode nothing is kept in clear, and
 * without a pairing nothing at all.
 */
const insert = (push, makeRoom) =>
    transaction("readwrite", async (settings, pushes) => {
        const pairing = await result(settings.get("pairing"));
        if (pairing === undefined) return undefined;
        const known = await result(pushes.index("digest").getKey(push.digest));
        if (known !== undefined) return known;
        const { notice, ...sealed } = push;
        const id = await result(pushes.add(pairing.wrapped ? sealed : push));
        await makeRoom(settings, pushes);
        return id;
    });

export const letOldestGo = (surplus) => transaction("readwrite", (_, pushes) => drop(pushes, surplus));

async function dropBetween(settings, pushes) {
    const surplus = (await result(pushes.count())) - lockedFirst - lockedLast;
    if (surplus <= 0) return;
    const ids = await result(pushes.getAllKeys(null, lockedFirst + surplus));
    for (const id of ids.slice(lockedFirst)) await result(pushes.delete(id));
    await result(settings.put(((await result(settings.get("missed"))) ?? 0) + surplus, "missed"));
}

async function drop(pushes, surplus) {
    const count = surplus(await result(pushes.count()));
    if (count <= 0) return;
    const ids = await result(pushes.getAllKeys(null, count));
    await result(pushes.delete(IDBKeyRange.upperBound(ids[ids.length - 1])));
}

/** All pushes, the oldest first. */
export const allPushes = () => transaction("readonly", (_, pushes) => result(pushes.getAll()));

export const unreadCount = async () => (await allPushes()).filter((push) => !push.isRead).length;

/** Changes one push; `change` gives the new one, or `undefined` to remove it. */
export const changePush = (id, change) =>
    transaction("readwrite", async (_, pushes) => {
        const push = await result(pushes.get(id));
        if (push === undefined) return;
        const changed = change(push);
        await result(changed === undefined ? pushes.delete(id) : pushes.put(changed));
    });

/** Marks those that were shown: more may have come since. */
export const markAllRead = (shown) =>
    transaction("readwrite", async (_, pushes) => {
        for (const push of await result(pushes.getAll()))
            if (!push.isRead && shown.has(push.id)) await result(pushes.put({ ...push, isRead: true }));
    });

export const erasePushes = () => transaction("readwrite", (_, pushes) => result(pushes.clear()));

/**
 * Obeys an ERASE, if it is to be obeyed: removes what it erases of the pushes that came before it, of `opened` or of all that
 * are kept, and writes down its date, in one step. The ERASE itself goes in either case, if it was kept.
 *
 * Gives the ids of those that stay; `null` if it is not obeyed.
 */
export const obeyErase = (erase, opened) =>
    transaction("readwrite", async (settings, pushes) => {
        const { id: end = Infinity, notice: { sentDate } } = erase;
        if (end !== Infinity) await result(pushes.delete(end));
        if (!isObeyed(erase, (await result(settings.get("erased"))) ?? 0)) return null;
        await result(settings.put(sentDate, "erased"));
        const before = (opened ?? (await result(pushes.getAll()))).filter(({ id }) => id < end);
        const erased = before.filter((push) => isErased(push, sentDate));
        for (const { id } of erased) await result(pushes.delete(id));
        return before.filter((push) => !erased.includes(push)).map(({ id }) => id);
    });

/**
 * Replaces the pairing and all pushes in one step, as locking and unlocking for good do. `changePairing` gets the pairing as
 * it is now: the worker changes it too. `changePush` gives the new push, or `undefined` to remove it. Neither may await: the
 * transaction would end.
 */
export const replaceAll = (changePairing, changePush) =>
    transaction("readwrite", async (settings, pushes) => {
        const pairing = await result(settings.get("pairing"));
        if (pairing === undefined) return;
        await result(settings.put(changePairing(pairing), "pairing"));
        for (const push of await result(pushes.getAll())) {
            const changed = changePush(push);
            await result(changed === undefined ? pushes.delete(push.id) : pushes.put(changed));
        }
    });

/** Forgets the pairing and all that came under it. What the user prefers stays. */
export const unpair = () =>
    transaction("readwrite", async (settings, pushes) => {
        for (const name of ["pairing", "erased", "missed"]) await result(settings.delete(name));
        await result(pushes.clear());
    });
