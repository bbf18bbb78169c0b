/* What the page knows: its words, whether it has entered, and what the node last said. */

import { languageFor, wordsIn } from "./words.js";

/** The language that was chosen in this browser; a browser that keeps nothing asks for its own. */
function chosenLanguage() {
    try {
        return localStorage.getItem("language");
    } catch {
        return null;
    }
}

const language = languageFor(chosenLanguage());

export const state = {
    language,
    words: wordsIn(language),
    /** Speaks another language from the next screen on, also in pages that are opened later. */
    speak(chosen) {
        state.language = chosen;
        state.words = wordsIn(chosen);
        try {
            localStorage.setItem("language", chosen);
        } catch {
            // It holds for this page.
        }
    },
    /** null: not asked yet. */
    hasEntered: null,
    /** Whether the node was asked to restart: its silence is awaited. */
    isRestarting: false,
    /** The version of the settings that this page has read or written last; null: none, so that it takes what there is. */
    settingsVersion: null,
    /** Whether this page just writes the settings. */
    isWriting: false,
    /** The node's state right after the restart that this page asked for; null: nothing is to be said of it. */
    restarted: null,
    /** The node's state; null: not known. */
    node: null,
    /** The pairing token of the phone that was added last, to ring it with a text that it can open. Never kept. */
    added: null,
};
