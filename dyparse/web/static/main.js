// The page of `dyparse serve`: what it starts with, and its tabs.

import { addressOf, readAddress } from "./address.js";
import { source } from "./api.js";
import { put, tell } from "./dom.js";
import { listenToKeys, panel, toggleHelp } from "./keys.js";
import { showExplorer } from "./page.js";
import { showParse } from "./parse.js";
import { firstDisagreement, play } from "./play.js";
import { choose, neighbour, showSentence, toggleBrowser, toggleEditing } from "./sentence.js";
import { catalog, refresh, session, whenChanged } from "./session.js";

const TABS = ["explore", "parse"];
const KEYS = [
  ["m", "the move of the model", ["m"], () => play(panel(), { steps: 1, policy: "model" })],
  ["x", "the move of the model, or a mistake", ["x"], () => play(panel(), { steps: 1, policy: "mistakes" })],
  ["d", "first disagreement of two models", ["d"], firstDisagreement],
  ["o", "to the other derivation", ["o"], other],
  ["i", "both derivations in step, or each alone", ["i"], toggleStep],
  ["n", "next sentence", ["n"], () => neighbour(1)],
  ["N", "previous sentence", ["N"], () => neighbour(-1)],
  ["c", "choose a sentence", ["c"], toggleBrowser],
  ["g", "edit the gold tree", ["g"], toggleEditing],
];

function show() {
  for (const name of TABS) {
    document.getElementById(name).hidden = session.tab !== name;
    document.getElementById(`to-${name}`).setAttribute("aria-selected", session.tab === name);
    document.getElementById(`to-${name}`).tabIndex = session.tab === name ? 0 : -1;
  }
  if (session.tab === "parse") {
    history.replaceState(null, "", addressOf());
    if (!document.getElementById("parse").childElementCount) showParse(document.getElementById("parse"));
    return;
  }
  showSentence(document.getElementById("sentence"));
  showExplorer();
}

async function fromAddress() {
  readAddress(location.hash);
  const hasWords = session.sentence.words.length > 0;
  if (!hasWords && catalog.treebanks.length && session.tab === "explore") {
    const last = catalog.treebanks.at(-1); // the sample
    await choose(last.name, 0);
  } else await refresh();
}

function openTab(name) {
  session.tab = name;
  refresh();
}

function toggleStep() {
  session.inStep = !session.inStep;
  return refresh();
}

function other() {
  session.active = (session.active + 1) % session.panels.length;
  return refresh();
}

async function start() {
  whenChanged(show);
  listenToKeys(KEYS);
  for (const name of TABS) {
    const tab = document.getElementById(`to-${name}`);
    tab.addEventListener("click", () => openTab(name));
    tab.addEventListener("keydown", (event) => {
      if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
      const next = TABS[(TABS.indexOf(name) + 1) % TABS.length];
      openTab(next);
      document.getElementById(`to-${next}`).focus();
    });
  }
  document.getElementById("open-help").addEventListener("click", toggleHelp);
  window.addEventListener("hashchange", fromAddress);
  try {
    const [systems, models, treebanks] = await Promise.all([
      source().systems(), source().models(), source().treebanks(),
    ]);
    Object.assign(catalog, { systems, models, treebanks });
    await fromAddress();
  } catch (error) {
    tell(error.message, { isError: true });
    put(document.getElementById("panels"));
  }
  document.body.dataset.ready = "true";
}

start();
