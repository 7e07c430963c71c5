// One derivation on the page: its system, the tree, the state, the moves, and the way here.

import { source } from "./api.js";
import { button, h, select } from "./dom.js";
import { draggable } from "./drag.js";
import { arcTexts, drawMoves } from "./moves.js";
import { drawPlayBar } from "./play.js";
import {
  catalog, chooseSystem, closePanel, session, systemOf, systemTitle,
} from "./session.js";
import { drawState, placesOf } from "./state.js";
import { drawTimeline } from "./timeline.js";
import { drawTree, scrolling } from "./tree.js";

/** The arcs of a state over its gold tree: what is built, what still can be, what is lost. */
export function arcsOf(panel) {
  const { state } = panel;
  const { words, heads, labels } = session.sentence;
  const built = new Map(state.arcs.map(([head, word]) => [word, head]));
  if (state.final) state.heads.forEach((head, index) => built.set(index + 1, head));
  const lost = new Set(state.lost.map(([, word]) => word));
  const arcs = [];
  for (let word = 1; word <= words.length; word += 1) {
    const gold = heads?.[word - 1];
    const has = built.get(word);
    const label = labels?.[word - 1];
    if (has !== undefined) {
      const isRight = has === gold;
      arcs.push({ head: has, word, kind: `built ${heads ? (isRight ? "right" : "wrong") : ""}`, label: isRight ? label : "" });
    }
    if (heads && has !== gold) {
      arcs.push({ head: gold, word, kind: lost.has(word) ? "gold lost" : "gold", label });
    }
    const best = state.best_heads?.[word - 1];
    if (session.showsBest && heads && best !== gold && best !== has) {
      arcs.push({ head: best, word, kind: "reachable", label: "" });
    }
  }
  return arcs;
}

/** The picture of the tree of a panel; also what is exported. */
export function treeOf(panel) {
  const { words, tags } = session.sentence;
  const arcs = arcsOf(panel);
  const count = (kind) => arcs.filter((arc) => arc.kind.includes(kind)).length;
  const describe = `${words.length} words, ${count("built")} arcs built, ${count("lost")} gold arcs lost`;
  return drawTree({ words, tags, arcs, places: placesOf(panel.state, words.length), describe });
}

export function drawPanel(panel, index) {
  const root = h("section", {
    class: `panel ${index === session.active && session.panels.length > 1 ? "active" : ""}`,
    "aria-label": `derivation in ${systemTitle(panel)}`,
    "data-panel": index,
    focusin: () => makeActive(index),
    pointerdown: () => makeActive(index),
  });
  root.append(drawHeading(panel, index));
  if (panel.error) root.append(h("p", { class: "fault", role: "alert" }, panel.error));
  if (!panel.state) return root;
  const tree = treeOf(panel);
  if (session.isEditing && session.sentence.heads) draggable(tree);
  const mark = (move) => markArcs(root, move);
  root.append(
    ...[drawCoverage(panel)].filter(Boolean),
    scrolling(tree.picture, "tree"),
    drawState(panel.state),
    drawMoves(panel, mark),
    drawPlayBar(panel),
    drawTimeline(panel),
  );
  return root;
}

function makeActive(index) {
  session.active = index;
  for (const other of document.querySelectorAll(".panel")) {
    other.classList.toggle("active", session.panels.length > 1 && Number(other.dataset.panel) === index);
  }
}

/** Show in the tree which gold arcs a move would make unreachable. */
function markArcs(root, move) {
  for (const arc of root.querySelectorAll(".arc.stake")) arc.classList.remove("stake");
  for (const [head, word] of move?.lost ?? []) {
    root.querySelector(`.arc.gold[data-arc="${head}-${word}"]`)?.classList.add("stake");
  }
}

function drawHeading(panel, index) {
  const system = systemOf(panel);
  if (source().isStatic) {
    return h("header", {}, h("h2", {}, systemTitle(panel)), h("p", { class: "note" }, plain(system.doc)));
  }
  const change = (event) => chooseSystem(panel, event.target.value);
  return h("header", {},
    h("label", {}, h("span", {}, "System "),
      select({ change, "data-key": "system" }, catalog.systems.map((one) => [one.name, one.name]), panel.system)),
    system.options.map((option) => drawOption(panel, option)),
    session.panels.length > 1 &&
      button("✕", () => closePanel(index), { class: "close", "aria-label": "close this derivation", "data-key": "close" }),
    h("p", { class: "note" }, plain(system.doc), system.exact ? "" : " Its costs are approximate."));
}

function drawOption(panel, option) {
  const value = panel.options[option.name] ?? option.default;
  const change = (event) => {
    const { type, checked, value: text } = event.target;
    chooseSystem(panel, panel.system, { ...panel.options, [option.name]: type === "checkbox" ? checked : text });
  };
  const common = { change, title: option.doc ?? "", "data-key": `option ${option.name}` };
  if (option.type === "bool") {
    return h("label", { class: "option" }, h("input", { type: "checkbox", checked: value, ...common }), option.name);
  }
  const field = option.choices
    ? select(common, option.choices.map((one) => [one, one]), value)
    : h("input", { type: option.type === "int" ? "number" : "text", value, ...common });
  return h("label", { class: "option" }, `${option.name} `, field);
}

/** Whether the system can build the gold tree; if not, what the best tree in reach loses. */
function drawCoverage(panel) {
  if (!session.sentence.heads || !panel.start) return null;
  const { lost } = panel.start;
  if (!lost.length) return h("p", { class: "coverage all" }, "Can build the whole gold tree.");
  const some = lost.length === 1 ? "1 gold arc" : `${lost.length} gold arcs`;
  return h("p", { class: "coverage" },
    `Cannot build this tree: its best tree lacks ${some}: ${arcTexts(lost)}.`);
}

const plain = (text) => text.replaceAll("`", "");
