// What is explored: a sentence with its gold tree, and one or two derivations of it side by side.

import { source } from "./api.js";
import { tell } from "./dom.js";
import { cycleIn, optionsFor } from "./gold.js";

export const MOST_MODELS = 2;
export const catalog = { systems: [], models: [], treebanks: [] };
export const session = {
  tab: "explore",
  sentence: { words: [], tags: null, heads: null, labels: null, from: null },
  panels: [],
  active: 0,
  models: [],
  isEditing: false,
  showsBest: false,
  inStep: true,
};
const listeners = [];
let round = 0;

/** A derivation in a system: moves, of which the first `at` are taken; the others can be redone. */
export function newPanel(system = "arc_eager", options = {}) {
  return {
    system, options, moves: [], at: 0,
    policy: "static", model: null, seed: 1, probability: 0.2,
    state: null, start: null, costs: [], error: "", isPlaying: false,
  };
}

/** Call back after every change, with the states that belong to it. */
export function whenChanged(listener) {
  listeners.push(listener);
}

/** What the system of a panel is called, with the options that are not those by default. */
export function systemTitle(panel) {
  const { name, options } = systemOf(panel);
  const other = options.filter((o) => o.name in panel.options && panel.options[o.name] !== o.default);
  return name + (other.length ? `:${other.map((o) => `${o.name}=${panel.options[o.name]}`).join(",")}` : "");
}

export const systemOf = (panel) =>
  catalog.systems.find((system) => system.name === panel.system) ?? catalog.systems[0];

/** The chosen models that were trained with the system of a panel, and with its options. */
export function modelsFor(panel) {
  return catalog.models.filter((model) =>
    session.models.includes(model.name) && model.system === panel.system && sameOptions(panel, model));
}

function sameOptions(panel, model) {
  const given = model.options ?? {};
  return systemOf(panel).options.every((option) => {
    const here = panel.options[option.name] ?? option.default;
    return (given[option.name] ?? option.default) === here;
  });
}

/** The question about the state of a panel after its first `at` moves. */
export function bodyOf(panel, at = panel.at) {
  const { words, tags, heads } = session.sentence;
  return {
    system: panel.system,
    options: panel.options,
    words,
    ...(tags ? { tags } : {}),
    gold: heads,
    moves: panel.moves.slice(0, at),
    ...(modelsFor(panel).length ? { models: modelsFor(panel).map((model) => model.name) } : {}),
  };
}

/** Ask for the states of all panels, then draw them; a later change overtakes an earlier one. */
export async function refresh() {
  round += 1;
  const mine = round;
  const found = await Promise.all(session.panels.map(statesOf));
  if (mine !== round) return;
  session.panels.forEach((panel, k) => Object.assign(panel, found[k]));
  for (const listener of listeners) listener();
}

async function statesOf(panel) {
  if (!session.sentence.words.length) return { state: null, start: null, costs: [], error: "" };
  try {
    const wholly = panel.moves.length === panel.at ? null : source().state(bodyOf(panel, panel.moves.length));
    const [state, start, whole] = await Promise.all([
      source().state(bodyOf(panel)),
      source().state(bodyOf(panel, 0)),
      wholly,
    ]);
    return { state, start, costs: (whole ?? state).history.map((step) => step.cost), error: "" };
  } catch (error) {
    return { state: null, start: null, costs: [], error: error.message };
  }
}

/** Take a legal move; what could be redone is forgotten, unless it is that very move. */
export function take(panel, move) {
  if (panel.moves[panel.at] !== move) panel.moves = [...panel.moves.slice(0, panel.at), move];
  panel.at += 1;
  const chosen = panel.state?.legal.find((other) => other.move === move);
  if (chosen) tell(chosen.cost === null ? move : `${move}, cost ${chosen.cost}`, { isQuiet: true });
  return refresh();
}

/** Replace the moves after the first `at`. */
export function continueWith(panel, moves, at = panel.moves.length) {
  panel.moves = [...panel.moves.slice(0, panel.at), ...moves];
  panel.at = Math.min(at, panel.moves.length);
  return refresh();
}

/** Go to a place of the derivation; panels in step go together. */
export function goTo(panel, at) {
  const together = session.inStep ? session.panels : [panel];
  for (const one of together) one.at = Math.max(0, Math.min(at, one.moves.length));
  return refresh();
}

/** Another system, with its default options; its derivation starts again. */
export function chooseSystem(panel, name, options = {}) {
  const known = catalog.systems.find((system) => system.name === name) ?? catalog.systems[0];
  Object.assign(panel, { system: known.name, options: optionsFor(known, options), moves: [], at: 0 });
  return refresh();
}

/** Another sentence; all derivations start again. */
export function chooseSentence(sentence) {
  session.sentence = { tags: null, heads: null, labels: null, from: null, ...sentence };
  for (const panel of session.panels) Object.assign(panel, { moves: [], at: 0 });
  return refresh();
}

/** Another gold head of a word; moves stay, as costs are a matter of the gold tree. */
export function changeHead(word, head) {
  const { sentence } = session;
  const heads = [...sentence.heads];
  heads[word - 1] = head;
  const circle = cycleIn(heads);
  if (circle) {
    tell(`not a tree: ${circle.join(" → ")} is a cycle; move another end first`, { isError: true });
    return false;
  }
  session.sentence = { ...sentence, heads, from: null };
  tell(`head of ${sentence.words[word - 1]} is ${head ? sentence.words[head - 1] : "the root"}`);
  refresh();
  return true;
}

/** Open a second derivation beside the first, or close one. */
export function openBeside(panel) {
  session.panels = [session.panels[0], panel];
  session.active = 1;
  return refresh();
}

export function closePanel(index) {
  session.panels = session.panels.filter((_, k) => k !== index);
  session.active = 0;
  return refresh();
}
