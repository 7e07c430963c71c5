// Everything that is shown is in the address, after the #.

import { source } from "./api.js";
import { isTree, optionsFor } from "./gold.js";
import { MOST_MODELS, catalog, newPanel, session } from "./session.js";

const TAB = "\t"; // between words where one of them has a space in it

/** The address of what is shown, without the part before the #. */
export function addressOf() {
  const { sentence, panels } = session;
  const found = new URLSearchParams();
  const isStatic = source().isStatic; // its system and its sentence are in the page
  if (session.tab !== "explore") found.set("tab", session.tab);
  panels.forEach((panel, index) => {
    const of = index ? String(index + 1) : "";
    if (!isStatic) found.set(`system${of}`, panel.system);
    const options = Object.entries(panel.options).map(([name, value]) => `${name}:${value}`);
    if (options.length) found.set(`options${of}`, options.join(","));
    if (panel.moves.length) found.set(`moves${of}`, panel.moves.join(" "));
    if (panel.at !== panel.moves.length) found.set(`at${of}`, panel.at);
    if (panel.policy !== "static") found.set(`play${of}`, panel.policy);
    if (panel.model) found.set(`with${of}`, panel.model);
  });
  if (session.showsBest) found.set("best", "1");
  if (!session.inStep) found.set("apart", "1");
  if (isStatic) return `#${found}`;
  if (sentence.words.length) found.set("words", joined(sentence.words));
  if (sentence.tags) found.set("tags", joined(sentence.tags));
  if (sentence.heads) found.set("heads", sentence.heads.join(","));
  if (sentence.labels) found.set("labels", joined(sentence.labels));
  if (sentence.from) found.set("from", `${sentence.from.treebank}:${sentence.from.index}`);
  if (session.models.length) found.set("models", session.models.join(TAB));
  return `#${found}`;
}

/** Make the session what an address says; what it does not say stays by default. */
export function readAddress(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  session.tab = given.get("tab") === "parse" ? "parse" : "explore";
  session.sentence = sentenceFrom(given);
  session.models = (given.get("models") ?? "").split(TAB)
    .filter((name) => catalog.models.some((model) => model.name === name)).slice(0, MOST_MODELS);
  session.showsBest = given.has("best");
  session.inStep = !given.has("apart");
  session.panels = [panelFrom(given, "")];
  if (given.has("system2")) session.panels.push(panelFrom(given, "2"));
  session.active = 0;
}

function panelFrom(given, of) {
  const name = given.get(`system${of}`) ?? "arc_eager";
  const system = catalog.systems.find((one) => one.name === name) ?? catalog.systems[0];
  const pairs = (given.get(`options${of}`) ?? "").split(",").filter(Boolean).map((p) => p.split(":"));
  const panel = newPanel(system.name, optionsFor(system, Object.fromEntries(pairs)));
  panel.moves = (given.get(`moves${of}`) ?? "").split(" ").filter(Boolean);
  const at = Number.parseInt(given.get(`at${of}`) ?? panel.moves.length, 10);
  panel.at = Math.max(0, Math.min(Number.isNaN(at) ? 0 : at, panel.moves.length));
  panel.policy = given.get(`play${of}`) ?? "static";
  panel.model = given.get(`with${of}`);
  return panel;
}

function sentenceFrom(given) {
  const words = parted(given.get("words"));
  const heads = (given.get("heads") ?? "").split(",").filter(Boolean).map(Number);
  const ofAll = (list) => (list.length === words.length && list.length ? list : null);
  const [treebank, index] = (given.get("from") ?? "").split(/:(?=\d+$)/);
  return {
    words,
    tags: ofAll(parted(given.get("tags"))),
    heads: words.length && isTree(heads, words.length) ? heads : null,
    labels: ofAll(parted(given.get("labels"))),
    from: index ? { treebank, index: Number(index) } : null,
  };
}

const joined = (words) =>
  words.some((word) => word.includes(" ")) ? words.join(TAB) + TAB : words.join(" ");

function parted(text) {
  if (!text) return [];
  return text.split(text.includes(TAB) ? TAB : " ").filter(Boolean);
}
