// A page that needs no server: one sentence in one system, with all its states in the page.

import { addressOf, readAddress } from "./address.js";
import { useSource } from "./api.js";
import { listenToKeys, toggleHelp } from "./keys.js";
import { showExplorer } from "./page.js";
import { catalog, refresh, session, whenChanged } from "./session.js";

const MULTIPLIER = 1103515245; // of a small generator of random numbers, so that a seed repeats

/** States from a table; `dyparse.web.reachable.table` says what is in a row. */
function tableSource({ system, sentence, states }) {
  const arcs = (words = []) => words.map((word) => [sentence.heads[word - 1], word]);
  const follow = (moves) => moves.reduce((at, move) => {
    const found = states[at][6].find(([number]) => system.moves[number] === move);
    if (!found) throw new Error(`${move} is not legal there; take it back`);
    return found[1];
  }, 0);
  const expand = ([stack, buffer, head, lost, best, canonical, moves, lists = {}]) => {
    const least = Math.min(...moves.map((move) => move[2]));
    const legal = moves.map(([number, , cost, adds, loses, gains]) => ({
      move: system.moves[number], cost, adds, lost: arcs(loses), gained: arcs(gains), best: cost === least,
    }));
    const names = new Set(legal.map((one) => one.move));
    const others = legal.length ? system.moves.filter((name) => !names.has(name)) : [];
    return {
      stack, buffer, lists, legal, best_heads: best, lost: arcs(lost), scores: {},
      arcs: head.map((one, index) => [one, index + 1]).filter(([one]) => one >= 0),
      heads: head.map((one) => Math.max(0, one)),
      final: !legal.length,
      static: system.moves[canonical] ?? null,
      illegal: others.map((move) => ({ move, why: system.why[move] })),
    };
  };
  const costs = (moves) => moves.map((move, index) => {
    const state = expand(states[follow(moves.slice(0, index))]);
    return { move, cost: state.legal.find((one) => one.move === move).cost };
  });
  const state = async ({ moves }) => ({ ...expand(states[follow(moves)]), history: costs(moves) });
  const play = async ({ moves, policy, seed, steps }) => {
    let random = (seed + 1) * MULTIPLIER;
    const taken = [];
    while (!steps || taken.length < steps) {
      const now = await state({ moves: [...moves, ...taken] });
      if (now.final) break;
      random = (random * 5 + 12345) % 2147483647;
      const best = now.legal.filter((move) => move.best);
      taken.push(policy === "best" ? best[random % best.length].move : now.static);
    }
    return { moves: taken, costs: [] };
  };
  return { isStatic: true, state, play };
}

async function startStatic() {
  const data = JSON.parse(document.getElementById("data").textContent);
  useSource(tableSource(data));
  catalog.systems = [data.system];
  const read = () => {
    readAddress(location.hash);
    session.sentence = { ...session.sentence, ...data.sentence };
    session.panels = session.panels.slice(0, 1);
    return refresh();
  };
  whenChanged(showExplorer);
  listenToKeys();
  document.getElementById("open-help").addEventListener("click", toggleHelp);
  window.addEventListener("hashchange", read);
  await read();
  document.body.dataset.ready = "true";
}

startStatic();
