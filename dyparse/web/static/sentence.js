// Which sentence: of a treebank, typed, or pasted as CoNLL-U; and its gold tree by number.

import { source } from "./api.js";
import { button, h, put, select, tell } from "./dom.js";
import { firstTree } from "./gold.js";
import { catalog, changeHead, chooseSentence, refresh, session } from "./session.js";

const PAGE = 20; // sentences in the list
const browser = { isOpen: false, way: "treebank", treebank: null, search: "", offset: 0, found: null };

/** What the server says of a sentence, as the session has it. */
export function chosen(sentence, treebank = null) {
  const { words, tags, heads, labels } = sentence;
  const known = (list) => (list?.some((text) => text && text !== "_") ? list : null);
  return {
    words, heads, tags: known(tags), labels: known(labels),
    from: treebank ? { treebank, index: sentence.index } : null,
  };
}

export function drawSentence() {
  const { words, heads, from } = session.sentence;
  const title = from ? `${from.treebank}, sentence ${from.index + 1}` : words.length ? "your sentence" : "no sentence yet";
  return [
    h("div", { class: "row" },
      h("p", { class: "text" }, h("small", {}, title), h("span", { lang: "und", dir: "auto" }, words.join(" "))),
      h("span", { class: "group" },
        from && button("‹", () => neighbour(-1), { "aria-label": "previous sentence", disabled: from.index === 0, "data-key": "previous" }),
        from && button("›", () => neighbour(1), { "aria-label": "next sentence", "data-key": "next" }),
        button("Choose…", toggleBrowser, { "aria-expanded": browser.isOpen, "aria-controls": "browser", "data-key": "choose" }),
        words.length > 0 && button(session.isEditing ? "Done" : "Edit tree", toggleEditing,
          { "aria-pressed": session.isEditing, "data-key": "edit" }))),
    browser.isOpen && drawBrowser(),
    session.isEditing && words.length > 0 && (heads ? drawNumbers() : drawNoTree()),
  ];
}

export function toggleEditing() {
  session.isEditing = !session.isEditing;
  refresh();
}

export async function toggleBrowser() {
  browser.isOpen = !browser.isOpen;
  browser.treebank ??= catalog.treebanks[0]?.name ?? null;
  if (browser.isOpen && !browser.found) await search();
  refresh();
}

/** The sentence before or after this one in its treebank. */
export async function neighbour(step) {
  const { from } = session.sentence;
  if (!from || from.index + step < 0) return;
  await choose(from.treebank, from.index + step);
}

/** A sentence of a treebank by its place. */
export async function choose(treebank, index) {
  try {
    const { sentences } = await source().sentences(treebank, index, 1, "");
    if (sentences.length) await chooseSentence(chosen(sentences[0], treebank));
    else tell("this is the last sentence");
  } catch (error) {
    tell(error.message, { isError: true });
  }
}

async function search() {
  try {
    browser.found = browser.treebank
      ? await source().sentences(browser.treebank, browser.offset, PAGE, browser.search)
      : { total: 0, sentences: [] };
  } catch (error) {
    tell(error.message, { isError: true });
  }
}

const WAYS = { treebank: "From a treebank", typed: "Type it", pasted: "Paste CoNLL-U" };

function drawBrowser() {
  const tabs = Object.entries(WAYS).map(([way, text]) =>
    button(text, () => { browser.way = way; refresh(); },
      { "aria-pressed": browser.way === way, "data-key": `way ${way}` }));
  const parts = { treebank: drawTreebank, typed: drawTyped, pasted: drawPasted };
  return h("div", { id: "browser", class: "browser" }, h("div", { class: "group" }, tabs), parts[browser.way]());
}

function drawTreebank() {
  const again = async (change) => {
    Object.assign(browser, { offset: 0 }, change);
    await search();
    refresh();
  };
  const { found } = browser;
  const last = found ? browser.offset + found.sentences.length : 0;
  return [
    h("div", { class: "row" },
      h("label", {}, h("span", {}, "Treebank "),
        select({ change: (event) => again({ treebank: event.target.value }), "data-key": "treebank" },
          catalog.treebanks.map((one) => [one.name, one.name]), browser.treebank)),
      h("label", {}, h("span", {}, "Search "),
        h("input", { type: "search", id: "search", value: browser.search, "data-key": "search",
          change: (event) => again({ search: event.target.value }) })),
      found && h("span", { class: "group" },
        button("‹", () => again({ offset: Math.max(0, browser.offset - PAGE) }),
          { "aria-label": "earlier sentences", disabled: browser.offset === 0, "data-key": "earlier" }),
        h("span", {}, found.total ? `${browser.offset + 1} to ${last} of ${found.total}` : "none"),
        button("›", () => again({ offset: browser.offset + PAGE }),
          { "aria-label": "later sentences", disabled: last >= found.total, "data-key": "later" }))),
    h("ul", { class: "sentences" }, (found?.sentences ?? []).map((sentence) =>
      h("li", {}, button(
        [sentence.text, sentence.projective === false && h("small", {}, "non-projective")],
        () => { browser.isOpen = false; chooseSentence(chosen(sentence, browser.treebank)); },
        { "data-key": `sentence ${sentence.index}` })))),
  ];
}

function drawTyped() {
  const use = (event) => {
    event.preventDefault();
    const words = event.target.elements.words.value.split(/\s+/).filter(Boolean);
    if (!words.length) return tell("type some words first, with spaces between them", { isError: true });
    Object.assign(browser, { isOpen: false });
    Object.assign(session, { isEditing: true });
    return chooseSentence({ words, heads: firstTree(words) });
  };
  return h("form", { submit: use, class: "row" },
    h("label", { class: "wide" }, h("span", {}, "Words, with spaces between them "),
      h("input", { name: "words", type: "text", autocomplete: "off", required: true, maxlength: 2000 })),
    h("button", { type: "submit" }, "Use it"));
}

function drawPasted() {
  const use = async (event) => {
    event.preventDefault();
    try {
      const { sentences } = await source().readConllu(`${event.target.elements.conllu.value.trimEnd()}\n\n`);
      if (!sentences.length) throw new Error("there is no sentence in it");
      browser.isOpen = false;
      await chooseSentence(chosen(sentences[0]));
    } catch (error) {
      tell(error.message, { isError: true });
    }
  };
  return h("form", { submit: use },
    h("label", { class: "wide" }, h("span", {}, "CoNLL-U; of several sentences the first is shown"),
      h("textarea", { name: "conllu", rows: 6, spellcheck: "false", required: true })),
    h("button", { type: "submit" }, "Use it"));
}

function drawNoTree() {
  const make = () => chooseSentence({ ...session.sentence, heads: firstTree(session.sentence.words) });
  return h("div", { class: "row editor" }, h("p", {}, "This sentence has no gold tree, so moves have no costs."),
    button("Make one", make, { "data-key": "make" }));
}

/** The heads of all words as numbers; 0 is the root. */
function drawNumbers() {
  const { words, heads } = session.sentence;
  const change = (event, word) => {
    const head = Number(event.target.value);
    const isHead = Number.isInteger(head) && head >= 0 && head <= words.length && head !== word;
    if (!isHead) tell(`head of word ${word} is ${event.target.value}, expected 0 to ${words.length}, and another word`, { isError: true });
    if (!isHead || !changeHead(word, head)) event.target.value = session.sentence.heads[word - 1];
  };
  return h("div", { class: "editor" },
    h("p", { class: "note" }, "Drag the upper end of an arc to another word, or type the number of the head; 0 is the root."),
    h("ol", { class: "numbers", "data-scroll": "numbers" }, words.map((form, index) =>
      h("li", {}, h("label", {}, h("span", {}, `${index + 1} ${form}`),
        h("input", {
          type: "number", min: 0, max: words.length, value: heads[index], inputmode: "numeric",
          "data-key": `head ${index + 1}`, "aria-label": `head of ${form}, word ${index + 1}`,
          change: (event) => change(event, index + 1),
        }))))));
}

/** Draw the card of the sentence again. */
export function showSentence(place) {
  put(place, drawSentence());
}
