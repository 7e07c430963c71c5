// The derivation so far, move by move, with the cost paid; and what is left to redo.

import { button, h } from "./dom.js";
import { goTo, session } from "./session.js";

export function drawTimeline(panel) {
  let paid = 0;
  const steps = panel.moves.map((name, index) => {
    const cost = panel.costs[index] ?? 0;
    paid += cost;
    return h("li", {}, place(panel, index + 1, name, cost, paid));
  });
  return h("div", { class: "timeline" },
    h("ol", { start: 0, "data-scroll": "timeline", "aria-label": "derivation" },
      h("li", {}, place(panel, 0, "start", 0, 0)), steps),
    h("p", { class: "paid" }, paidText(panel)));
}

function place(panel, at, name, cost, paid) {
  const isHere = panel.at === at;
  return button(
    [h("span", { class: "count" }, at || "·"), name, cost > 0 && h("span", { class: "price" }, `+${cost}`)],
    () => goTo(panel, at),
    {
      class: `step ${isHere ? "here" : ""} ${at > panel.at ? "ahead" : ""} ${cost > 0 ? "mistake" : ""}`,
      "aria-current": isHere ? "step" : null,
      "data-key": `step ${at}`,
      title: at ? `after move ${at}; paid so far: ${paid}` : "the initial state",
    },
  );
}

function paidText(panel) {
  const n = `${panel.at} of ${panel.moves.length} moves`;
  if (!session.sentence.heads) return n;
  const sum = panel.costs.slice(0, panel.at).reduce((a, b) => a + (b ?? 0), 0);
  const unreachable = panel.start?.lost.length ?? 0;
  const before = unreachable ? `, ${unreachable} out of reach from the start` : "";
  return `${n}, cost paid: ${sum}${before}`;
}

/** Bring the current place into view, without moving the page. */
export function showHere(root) {
  const here = root.querySelector(".step.here");
  const list = here?.closest("ol");
  if (!list) return;
  const left = here.parentElement.offsetLeft; // the list is positioned
  if (left < list.scrollLeft || left + here.offsetWidth > list.scrollLeft + list.clientWidth) {
    list.scrollLeft = left - list.clientWidth / 2;
  }
}
