/* What the page knows: its words, whether it has entered, and what the node last said. */

import { languageFor, wordsIn } from "./words.js";

const language = languageFor(null);

export const state = {
    language,
    words: wordsIn(language),
    /** null: not asked yet. */
    hasEntered: null,
    /** Whether the node was asked to restart: its silence is awaited. */
    isRestarting: false,
    /** The node's state; null: not known. */
    node: null,
    /** The pairing token of the phone that was added last, to ring it with a text that it can open. Never kept. */
    added: null,
};
