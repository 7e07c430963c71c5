// The moves of a system in a state: a button each, with cost, arcs at stake and probabilities.

import { button, h } from "./dom.js";
import { modelsFor, session, systemOf, take } from "./session.js";

/** All moves of the system in their order; those that are not legal say why. */
export function drawMoves(panel, mark) {
  const { state } = panel;
  const why = new Map(state.illegal.map((one) => [one.move, one.why]));
  const legal = new Map(state.legal.map((one) => [one.move, one]));
  if (state.final) return h("p", { class: "end" }, endText(panel));
  const cards = systemOf(panel).moves.map((name, index) =>
    legal.has(name)
      ? legalMove(panel, legal.get(name), index, mark)
      : illegalMove(name, why.get(name), index));
  return h("div", { class: "moves", role: "group", "aria-label": "moves" }, cards);
}

function legalMove(panel, move, index, mark) {
  const { state } = panel;
  const isCanonical = state.static === move.move;
  const known = move.cost !== null;
  const classes = ["move", known ? (move.best ? "best" : "costly") : ""].join(" ");
  const show = () => mark(move);
  const hide = () => mark(null);
  return button(
    [
      h("span", { class: "name" }, h("kbd", { "aria-hidden": "true" }, index + 1), move.move,
        isCanonical && h("span", { class: "canonical", title: "the move of the static oracle" }, "static")),
      known && h("span", { class: "cost" }, h("span", { class: "hidden" }, "cost "), move.cost),
      h("span", { class: "effect" }, effectOf(move)),
      modelsFor(panel).map((model, k) => probability(state.scores?.[model.name]?.[move.move], model, k)),
    ],
    () => take(panel, move.move),
    {
      class: classes, "data-key": `move ${move.move}`, "data-move": move.move,
      "data-cost": move.cost, mouseenter: show, mouseleave: hide, focus: show, blur: hide,
    },
  );
}

function illegalMove(name, why, index) {
  return h("div", { class: "move illegal", "data-move": name },
    h("span", { class: "name" }, h("kbd", { "aria-hidden": "true" }, index + 1), name),
    h("span", { class: "cost" }, "not legal"),
    h("span", { class: "effect" }, why || "not legal here"));
}

/** Arcs that a move adds, loses and gains, in words. */
function effectOf(move) {
  const parts = [];
  if (move.adds.length) parts.push(h("span", { class: "adds" }, `adds ${arcTexts(move.adds)}`));
  if (move.lost.length) parts.push(h("span", { class: "loses" }, `loses ${arcTexts(move.lost)}`));
  if (move.gained.length) parts.push(h("span", { class: "gains" }, `regains ${arcTexts(move.gained)}`));
  return parts;
}

/** Arcs [head, word] as text. */
export function arcTexts(arcs) {
  const name = (token) => (token ? session.sentence.words[token - 1] : "ROOT");
  return arcs.map(([head, word]) => `${name(head)} → ${name(word)}`).join(", ");
}

function probability(value, model, k) {
  if (value === undefined) return null;
  const percent = 100 * value;
  const text = percent >= 99.95 ? "100" : percent >= 1 ? percent.toFixed(0) : percent.toFixed(1);
  const bar = h("span", { class: "bar" });
  bar.style.setProperty("--share", `${percent.toFixed(1)}%`);
  return h("span", { class: `probability of-${k}`, title: `${model.name}: ${percent.toFixed(2)}%` },
    h("span", { class: "hidden" }, `${model.name} `), bar, h("span", { class: "percent" }, `${text}%`));
}

function endText(panel) {
  const { state } = panel;
  if (!session.sentence.heads) return "The end: the tree is complete.";
  const { length } = state.lost;
  const verdict = length
    ? `${length} of ${session.sentence.words.length} gold arcs lost: ${arcTexts(state.lost)}.`
    : "this is the gold tree.";
  return `The end: ${verdict}`;
}
