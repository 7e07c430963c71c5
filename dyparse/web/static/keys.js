// Keys for everything, and the overlay that lists them.

import { button, h } from "./dom.js";
import { exportAs } from "./export.js";
import { play, watch } from "./play.js";
import { goTo, refresh, session, systemOf, take } from "./session.js";

/** The derivation that keys are about. */
export const panel = () => session.panels[session.active] ?? session.panels[0];

const KEYS = [
  ["←", "undo", ["ArrowLeft", "u"], () => goTo(panel(), panel().at - 1)],
  ["→", "redo", ["ArrowRight", "r"], () => goTo(panel(), panel().at + 1)],
  ["Home", "to the initial state", ["Home"], () => goTo(panel(), 0)],
  ["End", "to the end of the moves taken", ["End"], () => goTo(panel(), panel().moves.length)],
  ["s", "the move of the static oracle", ["s"], () => play(panel(), { steps: 1, policy: "static" })],
  ["z", "a zero-cost move at random", ["z"], () => play(panel(), { steps: 1, policy: "best" })],
  ["p", "play and pause", ["p", " "], () => watch(panel())],
  ["e", "play to the end", ["e"], () => play(panel())],
  ["b", "show the best tree in reach", ["b"], toggleBest],
  ["l", "copy the link to this state", ["l"], () => exportAs("link", panel())],
  ["?", "this help", ["?"], toggleHelp],
];
let keys = KEYS;

export function toggleBest() {
  session.showsBest = !session.showsBest;
  return refresh();
}

/** Listen to keys, unless they go into a field, or a control needs them; `more` are further ones. */
export function listenToKeys(more = []) {
  keys = [...KEYS, ...more];
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || session.tab !== "explore") return;
    const { target } = event;
    if (target.closest?.("input:not([type=checkbox]), textarea, select")) return;
    if (document.getElementById("help").open && event.key !== "?") return;
    if (event.key === " " && target.closest?.("button, a, input, summary")) return;
    if (event.key.startsWith("Arrow") && target.closest?.(".scroll, .list")) return;
    if (!panel() && event.key !== "?") return; // no sentence is here yet
    const action = actionOf(event.key);
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function actionOf(key) {
  if (/^[1-9]$/.test(key)) {
    const name = panel().state && systemOf(panel()).moves[Number(key) - 1];
    const isLegal = panel().state?.legal.some((move) => move.move === name);
    return isLegal ? () => take(panel(), name) : null;
  }
  return keys.find(([, , names]) => names.includes(key))?.[3];
}

/** Open or close the overlay with all keys. */
export function toggleHelp() {
  const dialog = document.getElementById("help");
  if (dialog.open) return dialog.close();
  dialog.replaceChildren(
    h("h2", {}, "Keys"),
    h("dl", {},
      h("div", {}, h("dt", {}, h("kbd", {}, "1"), " … ", h("kbd", {}, "9")), h("dd", {}, "take the move of this number")),
      keys.map(([key, text]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)))),
    button("Close", () => dialog.close(), { autofocus: true }),
  );
  return dialog.showModal();
}
