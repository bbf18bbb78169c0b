/* What the node says in sentences of its own, which are English, in the language of who reads. Each has a template, and what fits none stays. */

import { state } from "./state.js";

/** Templates, the ones that say most first: their English parts between values, and what they are in the reader's language. */
let templates = [];
/** Sentences without values. */
let sentences = new Map();
let known = "en";

/** Reads the sentences of the reader's language, before a screen is drawn in it. */
export async function learn() {
    const { language } = state;
    if (language === known) return;
    const table = language === "en" ? {} : (await import(`./languages/${language}-said.js`)).default;
    const rows = Object.entries(table).map(([english, text]) => ({ parts: english.split(/\{\d\}/), text }));
    sentences = new Map(rows.filter(({ parts }) => parts.length === 1).map(({ parts, text }) => [parts[0], text]));
    templates = rows.filter(({ parts }) => parts.length > 1)
        .map((row) => ({ ...row, length: row.parts.join("").length })).sort((one, other) => other.length - one.length);
    known = language;
}

/** Longer texts are no sentences of the node's. */
const longest = 4000;
/** A list in a list, a sentence in a sentence: no more than the node says, so that no text of a stranger's takes long. */
const deepest = 5;
const mostLooks = 1000;
let looks = 0;
/** A template that says so little fits much: only beside values that are words, or known sentences and no lists of them. */
const short = 12;
const separators = ["; ", ", ", ": "];
const units = { ms: "millisecond", s: "second", min: "minute", h: "hour", days: "day" };

/** A sentence of the node in the reader's language; what has none stays as it is, and so do names, figures and words of others. */
export function said(text) {
    if (state.language === "en" || known !== state.language || text.length > longest) return text;
    looks = 0;
    // A blank at which no line ends is one.
    return spoken(text.replaceAll("\u00a0", " "), 0) ?? text;
}

/** The same as an element, which says that it is English where it stays so. */
export function marked(text) {
    const told = said(text);
    return { text: told, lang: told === text ? "en" : null };
}

/** null: nothing of it is known. */
function spoken(text, depth) {
    if (depth > deepest) return null;
    return between(text, /^(\s*)([^]*?)(\s*)$/, (core) => whole(core, depth))
        ?? between(text, /^([\s:;,(]*)([^]*?)([\s)]*)$/, (core) => whole(core, depth) ?? inParts(core, depth));
}

/** What is told of a text without the marks around it, between these. */
function between(text, form, tell) {
    const [, before, core, after] = form.exec(text);
    const told = core === "" ? null : tell(core);
    return told === null ? null : before + told + after;
}

function whole(text, depth) {
    looks += 1;
    if (depth > deepest || looks > mostLooks) return null;
    const sentence = sentences.get(text) ?? quantity(text);
    if (sentence !== null && sentence !== undefined) return sentence;
    for (const { parts, text: target, length } of templates) {
        const values = fitting(text, parts);
        if (!values) continue;
        if (length < short && !values.every((value) => !value.trim().includes(" ") || whole(value, depth + 1) !== null)) continue;
        const told = values.map((value) => spoken(value, depth + 1));
        return target.replace(/\{(\d)\}/g, (_, index) => told[index] ?? values[index]);
    }
    return null;
}

/** The values between the parts of a template; null: the text is not of it. Each part is sought once, so that no text takes long. */
function fitting(text, parts) {
    const last = parts.at(-1);
    if (!text.startsWith(parts[0]) || !text.endsWith(last) || text.length < parts.join("").length) return null;
    const values = [];
    let place = parts[0].length;
    for (const part of parts.slice(1, -1)) {
        const next = text.indexOf(part, place);
        if (next < 0) return null;
        values.push(text.slice(place, next));
        place = next + part.length;
    }
    const end = text.length - last.length;
    return end < place ? null : [...values, text.slice(place, end)];
}

/** Several things in a row, some of which are known. */
function inParts(text, depth) {
    for (const separator of separators) {
        const parts = text.split(separator);
        if (parts.length === 1) continue;
        const told = parts.map((part) => spoken(part, depth + 1));
        if (told.some((part) => part !== null)) return parts.map((part, index) => told[index] ?? part).join(separator);
    }
    return null;
}

/** A length of time as the node writes it: `5 min`. */
function quantity(text) {
    const [, count, unit] = /^(\d+(?:\.\d+)?) (ms|s|min|h|days)$/.exec(text) ?? [];
    return count === undefined ? null
        : new Intl.NumberFormat(state.language, { style: "unit", unit: units[unit], unitDisplay: "short" }).format(Number(count));
}

/** Advice in paragraphs: sentences, and lines to copy, which begin with four blanks. */
export function paragraphs(text) {
    return text.trim().split("\n\n").map((block) => {
        if (block.startsWith("    ")) return { isCode: true, text: block.replace(/^ {4}/gm, "") };
        const [, number, rest] = /^(\d\. )?([^]*)$/.exec(block.replace(/\s*\n\s*/g, " ").trim());
        return { isCode: false, text: (number ?? "") + said(rest) };
    });
}
