/* The node's drawing of its state as elements. The node escapes whatever is text, and no browser is given markup here. */

import { element } from "./dom.js";
import { marked, said } from "./said.js";
import { state } from "./state.js";

const signs = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'" };
const plain = (text) => text.replace(/&(?:amp|lt|gt|quot|#39);/g, (sign) => signs[sign]);

/** Attributes that are read by people. */
const readable = new Set(["title", "aria-label"]);

/** What is a sentence, and no name or figure: where it stays English, its element says so. */
const isSentence = (text) => /\p{L}.* .*\p{L}/u.test(text);

function write(parent, text) {
    const { text: told, lang } = marked(text);
    parent.append(told);
    if (lang && state.language !== lang && isSentence(text)) parent.lang = lang;
}

/** Builds the elements, with the labels that have words, the node's sentences, and times, in the language of who reads. */
export function elementsOf(drawing) {
    const top = element("div");
    const open = [top];
    for (const [, close, name, attributes, text] of drawing.matchAll(/<(\/?)([a-z]\w*)([^>]*)>|([^<]+)/g)) {
        if (close) open.pop();
        else if (text) write(open.at(-1), plain(text));
        else {
            const child = element(name, Object.fromEntries([...attributes.matchAll(/([a-z-]+)="([^"]*)"/g)]
                .map(([, attribute, value]) => [attribute, readable.has(attribute) ? said(plain(value)) : plain(value)])));
            open.at(-1).append(child);
            open.push(child);
        }
    }
    const format = new Intl.DateTimeFormat(state.language, { dateStyle: "short", timeStyle: "short" });
    for (const label of top.querySelectorAll("[data-word], [data-time]")) {
        const { word, count, time } = label.dataset;
        const moment = time && format.format(Number(time));
        label.textContent = word ? state.words(word, { count, time: moment }) : moment;
        label.lang = state.language;
    }
    return [...top.children];
}
