// Policies that play along: one move, all of them one after the other, or to the end at once.

import { source } from "./api.js";
import { button, h, select, tell } from "./dom.js";
import { bodyOf, catalog, continueWith, goTo, modelsFor, refresh, session, systemOf } from "./session.js";

const PAUSE = 450; // milliseconds between moves
export const POLICIES = {
  static: "static oracle",
  best: "zero-cost moves, at random",
  model: "model",
  mistakes: "model, with mistakes",
};
const WITH_MODEL = ["model", "mistakes"];

/** The policies that a panel can play: some need a gold tree, some a model. */
export function policiesOf(panel) {
  const hasModel = modelsFor(panel).length > 0;
  return Object.keys(POLICIES).filter((name) =>
    WITH_MODEL.includes(name) ? hasModel : session.sentence.heads !== null);
}

/** The moves that the policy of a panel takes next: so many, or all to the end. */
async function nextMoves(panel, steps, wanted = null) {
  const names = policiesOf(panel);
  if (!names.length) throw new Error("to play along, give a gold tree or choose a model");
  if (wanted && !names.includes(wanted)) {
    throw new Error(WITH_MODEL.includes(wanted) ? "choose a model of this system" : "give a gold tree");
  }
  const policy = names.includes(panel.policy) ? panel.policy : names[0];
  const model = modelOf(panel);
  const { models: _, ...body } = bodyOf(panel);
  const answer = await source().play({
    ...body,
    policy,
    ...(WITH_MODEL.includes(policy) ? { model } : {}),
    seed: panel.seed + panel.at,
    probability: panel.probability,
    ...(steps ? { steps } : {}),
  });
  return answer.moves;
}

function modelOf(panel) {
  const names = modelsFor(panel).map((model) => model.name);
  return names.includes(panel.model) ? panel.model : names[0];
}

/** One move by a policy, or all; panels in step play their own policies together. */
export async function play(panel, { steps = null, policy = null } = {}) {
  if (policy) panel.policy = policy;
  const together = session.inStep ? session.panels : [panel];
  try {
    for (const one of together) {
      if (!one.state || one.state.final) continue;
      const moves = await nextMoves(one, steps, one === panel ? policy : null);
      one.moves = [...one.moves.slice(0, one.at), ...moves];
      one.at = one.moves.length;
    }
    await refresh();
  } catch (error) {
    tell(error.message, { isError: true });
  }
}

/** Play move by move until the end, or until it is stopped. */
export async function watch(panel) {
  if (panel.isPlaying) {
    panel.isPlaying = false;
    return refresh();
  }
  panel.isPlaying = true;
  while (panel.isPlaying && panel.state && !panel.state.final) {
    const before = panel.at;
    await play(panel, { steps: 1 });
    if (panel.at === before) break;
    await new Promise((done) => setTimeout(done, PAUSE));
  }
  panel.isPlaying = false;
  return refresh();
}

/** Where two models part: both play from the start, side by side, and stop before that move. */
export async function firstDisagreement() {
  const panel = session.panels[session.active] ?? session.panels[0];
  const [one, other] = modelsFor(panel);
  if (!other) return tell("choose two models of this system first", { isError: true });
  try {
    const body = { ...bodyOf(panel, 0), models: undefined, policy: "model", seed: 0, probability: 0 };
    const [first, second] = await Promise.all([one, other].map((model) =>
      source().play({ ...body, model: model.name })));
    const at = first.moves.findIndex((move, index) => move !== second.moves[index]);
    if (at < 0) return tell(`${one.name} and ${other.name} take the same moves in this sentence`);
    Object.assign(panel, { moves: first.moves, at, policy: "model", model: one.name });
    const beside = { ...panel, options: { ...panel.options }, moves: second.moves, model: other.name };
    session.panels = [panel, beside];
    session.active = 0;
    session.inStep = true;
    await refresh();
    return tell(`they part after ${at} moves: ${first.moves[at]} or ${second.moves[at]}`);
  } catch (error) {
    return tell(error.message, { isError: true });
  }
}

/** The controls of a panel: who plays, one move, all moves, back and forth. */
export function drawPlayBar(panel) {
  const names = policiesOf(panel);
  const models = modelsFor(panel);
  const usesModel = WITH_MODEL.includes(panel.policy);
  const atEnd = panel.state?.final ?? true;
  const key = (name) => ({ "data-key": name });
  return h("div", { class: "play" },
    h("span", { class: "group", role: "group", "aria-label": "back and forth" },
      button("↶ Undo", () => goTo(panel, panel.at - 1), { disabled: panel.at === 0, ...key("undo") }),
      button("Redo ↷", () => goTo(panel, panel.at + 1), { disabled: panel.at === panel.moves.length, ...key("redo") })),
    names.length > 0 && h("span", { class: "group", role: "group", "aria-label": "play along" },
      h("label", {}, h("span", {}, "Play along: "),
        select({ change: (event) => choose(panel, { policy: event.target.value }), ...key("policy") },
          names.map((name) => [name, POLICIES[name]]), panel.policy)),
      usesModel && models.length > 1 && h("label", {}, h("span", { class: "hidden" }, "model "),
        select({ change: (event) => choose(panel, { model: event.target.value }), ...key("model") },
          models.map((model) => [model.name, model.name]), panel.model)),
      panel.policy === "mistakes" && number("mistakes", panel, "probability", { min: 0, max: 1, step: 0.05 }),
      ["best", "mistakes"].includes(panel.policy) && number("seed", panel, "seed", { min: 0, step: 1 }),
      button("Step", () => play(panel, { steps: 1 }), { disabled: atEnd, ...key("one") }),
      button(panel.isPlaying ? "Pause" : "Play", () => watch(panel), { disabled: atEnd && !panel.isPlaying, ...key("watch") }),
      button("To the end", () => play(panel), { disabled: atEnd, ...key("end") })),
    panel.moves.length > 0 && button("Start again", () => restart(panel), key("again")));
}

function number(text, panel, field, limits) {
  const change = (event) => choose(panel, { [field]: Number(event.target.value) });
  return h("label", {}, h("span", {}, `${text} `),
    h("input", { type: "number", value: panel[field], ...limits, change, "data-key": field }));
}

function choose(panel, settings) {
  Object.assign(panel, settings);
  return refresh();
}

function restart(panel) {
  Object.assign(panel, { moves: [], at: 0 });
  return continueWith(panel, []);
}

/** Which of the loaded models stand beside the moves, as check boxes. */
export function drawModels() {
  if (!catalog.models.length) return null;
  const toggle = (name, isOn) => {
    session.models = isOn ? [...session.models, name].slice(-2) : session.models.filter((m) => m !== name);
    refresh();
  };
  return h("fieldset", { class: "models" },
    h("legend", {}, "Models, at most two"),
    catalog.models.map((model) => {
      const place = session.models.indexOf(model.name);
      return h("label", { class: place < 0 ? "" : `of-${place}` },
        h("input", {
          type: "checkbox", checked: place >= 0, "data-key": `use ${model.name}`,
          change: (event) => toggle(model.name, event.target.checked),
        }),
        model.name, h("small", {}, [model.system, model.exploration].filter(Boolean).join(", ")));
    }),
    session.panels.some((panel) => modelsFor(panel).length > 1) &&
      button("First disagreement", firstDisagreement, { "data-key": "part" }),
    session.models.length > 0 && !session.panels.some((panel) => modelsFor(panel).length) &&
      h("p", { class: "note" }, `no chosen model was trained for ${session.panels.map((p) => systemOf(p).name).join(" or ")}`));
}
