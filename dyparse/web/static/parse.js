// The tab that parses: text in, trees out; two models compared, CoNLL-U and JSON to copy.

import { source } from "./api.js";
import { button, h, put, select, tell } from "./dom.js";
import { copy } from "./export.js";
import { catalog, chooseSentence, session } from "./session.js";
import { showTops } from "./state.js";
import { drawTree, scrolling } from "./tree.js";

const FORMS = {
  text: "Text",
  words: "Words with spaces, a sentence per line",
  conllu: "CoNLL-U",
};
const VIEWS = { trees: "Trees", conllu: "CoNLL-U", json: "JSON" };
const MOST_DRAWN = 50; // trees at once
const form = { kind: "text", models: ["", ""], view: "trees", input: "", answers: null, isBusy: false };

/** Draw the tab again. */
export function showParse(place) {
  const again = () => showParse(place);
  if (!catalog.models.length) {
    put(place, h("p", { class: "note card" }, "No model is loaded. Start the server with one: ",
      h("code", {}, "dyparse serve MODEL")));
    return;
  }
  const names = catalog.models.map((model) => [model.name, model.name]);
  put(place,
    h("form", { class: "card", submit: (event) => { event.preventDefault(); parse(again); } },
      h("div", { class: "row" },
        h("label", {}, h("span", {}, "Input "),
          select({ change: (event) => { form.kind = event.target.value; }, "data-key": "kind" }, Object.entries(FORMS), form.kind)),
        h("label", {}, h("span", {}, "Model "),
          select({ change: (event) => { form.models[0] = event.target.value; }, "data-key": "first" }, names, form.models[0] || usual())),
        h("label", {}, h("span", {}, "Compare with "),
          select({ change: (event) => { form.models[1] = event.target.value; }, "data-key": "second" }, [["", "no other"], ...names], form.models[1]))),
      h("label", { class: "wide" }, h("span", {}, "Sentences "),
        h("textarea", { rows: 5, required: true, spellcheck: "false", "data-key": "input",
          input: (event) => { form.input = event.target.value; } }, form.input)),
      h("button", { type: "submit", disabled: form.isBusy, "data-key": "parse" }, form.isBusy ? "Parsing…" : "Parse")),
    form.answers && drawAnswers(again));
  showTops(place);
}

const usual = () => (catalog.models.find((model) => model.default) ?? catalog.models[0]).name;

async function parse(again) {
  form.isBusy = true;
  again();
  try {
    const names = [form.models[0] || usual(), form.models[1]].filter(Boolean);
    const answers = [];
    for (const model of names) {
      const body = { ...(answers.length ? wordsOf(answers[0]) : inputOf()), model, confidence: true };
      const [json, conllu] = await Promise.all([
        source().parse({ ...body, format: "json" }),
        source().parse({ ...body, format: "conllu" }),
      ]);
      answers.push({ model, sentences: json.sentences, conllu });
    }
    form.answers = answers;
    tell(`${form.answers[0].sentences.length} sentences are parsed`);
  } catch (error) {
    tell(error.message, { isError: true });
  }
  form.isBusy = false;
  again();
}

/** What the second model parses: a text is cut by the tokenizer of the first one. */
function wordsOf(first) {
  if (form.kind !== "text") return inputOf();
  return { words: first.sentences.map((sentence) => sentence.tokens.map((token) => token.form)) };
}

function inputOf() {
  if (form.kind === "text") return { text: form.input };
  if (form.kind === "conllu") return { conllu: `${form.input.trimEnd()}\n\n` };
  const lines = form.input.split("\n").map((line) => line.split(/\s+/).filter(Boolean));
  return { words: lines.filter((words) => words.length) };
}

function drawAnswers(again) {
  const tabs = Object.entries(VIEWS).map(([view, text]) =>
    button(text, () => { form.view = view; again(); }, { "aria-pressed": form.view === view, "data-key": `view ${view}` }));
  return h("div", { class: "answers" }, h("div", { class: "group" }, tabs),
    form.view === "trees" ? drawTrees() : form.answers.map(drawText));
}

function drawText({ model, sentences, conllu }) {
  const content = form.view === "conllu" ? conllu : `${JSON.stringify(sentences, null, 1)}\n`;
  return h("section", { class: "card" },
    h("div", { class: "row" }, h("h2", {}, model),
      button("Copy", () => copy(content, form.view === "conllu" ? "the CoNLL-U" : "the JSON"), { "data-key": `copy ${model}` })),
    h("pre", { tabindex: "0" }, content));
}

function drawTrees() {
  const [first, second] = form.answers;
  const shown = first.sentences.slice(0, MOST_DRAWN);
  const rest = first.sentences.length - shown.length;
  return [
    second && h("p", { class: "note" }, differencesText()),
    h("p", { class: "note" }, "A thin arc is an improbable one; point at an arc for its probability."),
    shown.map((sentence, index) =>
      h("section", { class: "card parsed" },
        form.answers.map((answer) => drawParsed(answer, index)),
        button("Explore", () => explore(sentence), { "data-key": `explore ${index}` }))),
    rest > 0 && h("p", { class: "note" }, `${rest} more sentences are in the CoNLL-U and the JSON.`),
  ];
}

function drawParsed(answer, index) {
  const { tokens } = answer.sentences[index];
  const first = form.answers[0].sentences[index].tokens;
  const tags = tokens.map((token) => token.upos ?? "");
  const arcs = tokens.filter((token) => token.head !== null).map((token, k) => {
    const label = token.deprel ?? "";
    const differs = first[k] && (first[k].head !== token.head ? "wrong" : first[k].deprel !== token.deprel ? "relabelled" : "");
    const probability = headProbability(token);
    const sure = probability === null || probability >= 0.9 ? "" : probability >= 0.5 ? "unsure" : "doubtful";
    const title = probability === null ? "" : `probability of this head: ${probability}`;
    return { head: token.head, word: token.id, kind: ["built", differs, sure].filter(Boolean).join(" "), label, title };
  });
  const words = tokens.map((token) => token.form);
  const describe = `tree by ${answer.model}: ${words.join(" ")}`;
  const { picture } = drawTree({ words, tags: tags.some(Boolean) ? tags : null, arcs, describe });
  return [form.answers.length > 1 && h("h3", {}, answer.model), scrolling(picture, `${answer.model} ${index}`)];
}

function headProbability(token) {
  const found = /(?:^|\|)HeadConfidence=([\d.]+)/.exec(token.misc ?? "");
  return found ? Number(found[1]) : null;
}

function differencesText() {
  const [first, second] = form.answers;
  let [words, heads, labels] = [0, 0, 0];
  first.sentences.forEach((sentence, index) => sentence.tokens.forEach((token, k) => {
    const other = second.sentences[index].tokens[k];
    words += 1;
    if (token.head !== other.head) heads += 1;
    else if (token.deprel !== other.deprel) labels += 1;
  }));
  return `Of ${words} words, ${heads} have another head in ${second.model} (orange), ${labels} only another label.`;
}

function explore(sentence) {
  const { tokens } = sentence;
  const tags = tokens.map((token) => token.upos ?? "_");
  session.tab = "explore";
  chooseSentence({
    words: tokens.map((token) => token.form),
    tags: tags.every((tag) => tag === "_") ? null : tags,
    heads: tokens.map((token) => token.head ?? 0),
    labels: tokens.map((token) => token.deprel ?? "_"),
  });
}
