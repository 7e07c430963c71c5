// The explorer on the page: what is drawn where, after every change.

import { addressOf } from "./address.js";
import { source } from "./api.js";
import { button, h, put, select } from "./dom.js";
import { FORMATS, exportAs } from "./export.js";
import { toggleBest } from "./keys.js";
import { drawPanel } from "./panel.js";
import { drawModels } from "./play.js";
import { newPanel, openBeside, refresh, session } from "./session.js";
import { showTops } from "./state.js";
import { showHere } from "./timeline.js";

const place = (id) => document.getElementById(id);

/** Draw derivations and what stands above them; the address follows. */
export function showExplorer() {
  put(place("tools"), drawTools());
  put(place("panels"), session.panels.map(drawPanel));
  place("panels").classList.toggle("two", session.panels.length > 1);
  for (const root of document.querySelectorAll(".panel")) {
    showHere(root);
    showTops(root);
    showNext(root);
  }
  history.replaceState(null, "", addressOf());
}

/** Scroll long sentences to the words that the next move is about. */
function showNext(root) {
  const box = root.querySelector(".scroll");
  const words = [...root.querySelectorAll(".tree .word.next")];
  if (!box || !words.length || box.scrollWidth <= box.clientWidth) return;
  const spots = words.map((word) => word.getBoundingClientRect());
  const edge = box.getBoundingClientRect();
  const left = Math.min(...spots.map((spot) => spot.left)) - edge.left;
  const right = Math.max(...spots.map((spot) => spot.right)) - edge.left;
  if (left < 0 || right > box.clientWidth) box.scrollLeft += (left + right) / 2 - box.clientWidth / 2;
}

function drawTools() {
  const [first, second] = session.panels;
  if (!session.sentence.words.length) return null;
  const beside = () => openBeside(newPanel(first.system === "covington" ? "arc_eager" : "covington"));
  const again = () => openBeside({ ...newPanel(first.system, { ...first.options }), moves: [...first.moves], at: first.at });
  return h("div", { class: "row" },
    drawModels(),
    h("div", { class: "group" },
      !source().isStatic && !second && button("Another system beside it", beside, { "data-key": "beside" }),
      !source().isStatic && !second && button("Same system twice", again, { "data-key": "twice" }),
      second && check("in step", session.inStep, () => { session.inStep = !session.inStep; refresh(); }),
      session.sentence.heads && check("best tree in reach", session.showsBest, toggleBest)),
    h("label", {}, h("span", { class: "hidden" }, "Take away "),
      select({ change: takeAway, "data-key": "export" }, [["", "Share…"], ...Object.entries(FORMATS)], "")),
    h("ul", { class: "legend", "aria-label": "colours" },
      h("li", { class: "of-right" }, "built"),
      session.sentence.heads && [
        h("li", { class: "of-wrong" }, "built, not gold"),
        h("li", { class: "of-gold" }, "gold"),
        h("li", { class: "of-lost" }, "gold, lost"),
        session.showsBest && h("li", { class: "of-reachable" }, "best in reach"),
      ]));
}

function check(text, isOn, change) {
  return h("label", { class: "check" }, h("input", { type: "checkbox", checked: isOn, change, "data-key": text }), text);
}

function takeAway(event) {
  const format = event.target.value;
  event.target.value = "";
  if (format) exportAs(format, session.panels[session.active] ?? session.panels[0]);
}
