/* The page's texts. Each language is one file with the same names. */

import de from "./languages/de.js";
import en from "./languages/en.js";
import es from "./languages/es.js";
import fr from "./languages/fr.js";
import pt from "./languages/pt.js";
import ru from "./languages/ru.js";

const languages = { en, de, es, fr, pt, ru };

/** Each language's code and its name in itself. */
export const languageNames = Object.entries(languages).map(([code, texts]) => [code, texts.language]);

/** The language that was chosen, else the first of the browser's that there is, else English. */
export function languageFor(chosen, offered = navigator.languages) {
    const codes = [chosen, ...(offered ?? [])].map((code) => String(code ?? "").slice(0, 2).toLowerCase());
    return codes.find((code) => Object.hasOwn(languages, code)) ?? "en";
}

/** Gives texts by their names; `{name}` in a text is replaced by that value. */
export function wordsIn(language) {
    const texts = languages[language];
    return (name, values = {}) =>
        texts[name].replace(/\{(\w+)\}/g, (_, value) => String(values[value]));
}
