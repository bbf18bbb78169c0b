/* The notifications by day, and one of them in detail. */

import { badge, button, copy, element, fact, icon, say } from "../dom.js";
import { messageOf, timeOf, titleOf } from "../notices.js";
import { markAllRead, markRead, removePush, renew, state, unreadCount } from "../state.js";
import { reasonOf } from "./welcome.js";

/** So many are drawn at once; more follow as one scrolls. */
const pageLength = 50;

/** How far the list was drawn: a new notification must not throw its reader back to the top. */
let drawn = pageLength;

export function listScreen({ go, show }) {
    const { words, pushes } = state;
    return {
        title: words("list_title"),
        nodes: [
            banner(go, show),
            state.missed > 0 ? element("p", { class: "note" }, words("missed_text", { count: state.missed })) : null,
            pushes.length === 0 ? emptiness() : null,
            unreadCount() > 0 ? element("p", { class: "summary" }, words("unread_count", { count: unreadCount() }),
                button(words("mark_all_read"), async () => {
                    await markAllRead();
                    show();
                }, { class: "plain" })) : null,
            pushes.length > 0 ? days(pushes) : null,
        ],
    };
}

/** What needs the user before notifications can come again. */
function banner(go, show) {
    const { words, pairing, isLost } = state;
    if (!isLost && !pairing.moved) return null;
    const name = isLost ? "lost" : "moved";
    const act = async () => {
        if (!isLost) return go("#/pair");
        try {
            await renew(true);
            show();
        } catch (error) {
            say(reasonOf(error));
        }
    };
    return element("section", { class: "card banner", role: "alert" }, element("h2", {}, words(`${name}_title`)),
        element("p", {}, words(`${name}_text`)), button(words(`${name}_action`), act, { class: "primary" }));
}

const emptiness = () => element("div", { class: "empty" }, icon("bell"), element("strong", {}, state.words("list_empty")),
    element("p", {}, state.words("list_empty_text")));

function days(pushes) {
    const clock = new Intl.DateTimeFormat(state.language, { hour: "numeric", minute: "2-digit" });
    const list = element("div", { class: "days" });
    let next = 0;
    let day = { name: null, group: null };
    const drawMore = (count) => {
        for (const end = Math.min(next + count, pushes.length); next < end; next++) {
            const push = pushes[next];
            const name = dayOf(timeOf(push));
            if (name !== day.name) {
                day = { name, group: element("ul", { class: "group" }) };
                list.append(element("section", {}, element("h2", {}, name), day.group));
            }
            day.group.append(line(push, clock));
        }
        drawn = Math.max(pageLength, next);
    };
    drawMore(drawn);
    if (next === pushes.length) return list;
    const end = element("div", { class: "more", "aria-hidden": "true" });
    const watcher = new IntersectionObserver((changes) => {
        if (!changes.at(-1).isIntersecting) return; // It may have gone and come since the last call.
        drawMore(pageLength);
        if (next < pushes.length) {
            watcher.unobserve(end); // An end that stays in sight is reported again.
            watcher.observe(end);
        } else {
            watcher.disconnect();
            end.remove();
        }
    }, { rootMargin: "600px" });
    watcher.observe(end);
    return element("div", {}, list, end);
}

function dayOf(time) {
    const { language } = state;
    const midnight = (date) => new Date(date).setHours(0, 0, 0, 0);
    const age = Math.round((midnight(Date.now()) - midnight(time)) / 86_400_000);
    if (age === 0 || age === 1) return new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(-age, "day");
    const isThisYear = new Date(time).getFullYear() === new Date().getFullYear();
    const year = isThisYear ? undefined : "numeric";
    return new Intl.DateTimeFormat(language, { weekday: "long", day: "numeric", month: "long", year }).format(time);
}

function line(push, clock) {
    const { words } = state;
    const { notice, isRead } = push;
    return element("li", {}, element("a", { class: isRead ? "line" : "line is-unread", href: `#/notice/${push.id}` },
        badge(notice.kind),
        element("span", { class: "texts" },
            element("strong", {}, titleOf(notice, words)),
            element("span", { class: "preview" }, messageOf(notice, words))),
        element("span", { class: "aside" }, element("time", {}, clock.format(timeOf(push))),
            isRead ? null : element("span", { class: "dot", role: "img", "aria-label": words("unread") }))));
}

export function noticeScreen({ go, id }) {
    const { words, language } = state;
    const push = state.pushes.find((push) => push.id === id);
    if (!push)
        return { title: words("list_title"), back: "#/", nodes: [element("p", {}, words("detail_gone"))] };
    if (!push.isRead) markRead(id);
    const { notice } = push;
    const date = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
    return {
        title: titleOf(notice, words),
        back: "#/",
        nodes: [
            element("p", { class: "kind" }, badge(notice.kind), words(`kind_${notice.kind}`)),
            element("p", { class: "message" }, messageOf(notice, words)),
            notice.kind === "NODE" ? element("p", { class: "note" }, words("detail_from_node")) : null,
            element("dl", { class: "group" },
                notice.tradeId ? fact(words("detail_trade"), notice.tradeId) : null,
                notice.sentDate ? fact(words("detail_sent"), date.format(notice.sentDate)) : null,
                fact(words("detail_received"), date.format(push.received))),
            element("div", { class: "actions side" },
                notice.tradeId ? button(words("detail_copy"), () => copy(notice.tradeId), { class: "secondary", icon: "copy" }) : null,
                button(words("detail_delete"), async () => {
                    await removePush(id);
                    go("#/");
                }, { class: "secondary danger", icon: "trash" })),
        ],
    };
}
