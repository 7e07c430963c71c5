// What is taken away: a link, SVG, PNG, JSON, and LaTeX of the tree and of the derivation.

import { addressOf } from "./address.js";
import { source } from "./api.js";
import { tell } from "./dom.js";
import { booktabs, tikz } from "./latex.js";
import { paint } from "./paint.js";
import { arcsOf, treeOf } from "./panel.js";
import { bodyOf, session, systemTitle } from "./session.js";
import { listsOf } from "./state.js";

const STYLE = [
  "fill", "stroke", "stroke-width", "stroke-dasharray", "opacity",
  "font-family", "font-size", "font-weight", "text-anchor", "paint-order", "stroke-linejoin",
];
export const FORMATS = {
  svg: "Picture (SVG)",
  png: "Picture (PNG)",
  tikz: "Tree (LaTeX)",
  table: "Derivation (LaTeX)",
  json: "Derivation (JSON)",
  link: "Copy link",
};

/** Export the state or the derivation of a panel. */
export async function exportAs(format, panel) {
  try {
    const file = `${panel.system}-${panel.at}`;
    if (format === "link") return await copy(location.href.split("#")[0] + addressOf(), "the link");
    if (format === "svg") return save(new Blob([svgText(panel)], { type: "image/svg+xml" }), `${file}.svg`);
    if (format === "png") return save(await paint(standalone(panel)), `${file}.png`);
    if (format === "json") return save(text(`${JSON.stringify(await derivationOf(panel), null, 1)}\n`), `${file}.json`);
    const { words, tags } = session.sentence;
    if (format === "tikz") return save(text(tikz(words, tags, arcsOf(panel))), `${file}.tex`);
    const rows = await rowsOf(panel);
    return save(text(booktabs(rows, rows[0].lists.map(([name]) => name), words)), `${file}-derivation.tex`);
  } catch (error) {
    return tell(error.message, { isError: true });
  }
}

/** Copy a text, and say so. */
export async function copy(content, what) {
  try {
    await navigator.clipboard.writeText(content);
    tell(`${what} is copied`);
  } catch {
    tell("the browser does not let pages copy; mark the text and copy it yourself", { isError: true });
  }
}

const text = (content) => new Blob([content], { type: "text/plain;charset=utf-8" });

function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  tell(`saved ${name}`);
}

/** The derivation with its states as plain data. */
async function derivationOf(panel) {
  const { words, tags, heads, labels } = session.sentence;
  const steps = await statesOf(panel);
  return {
    system: systemTitle(panel), words, tags, heads, labels,
    moves: panel.moves.slice(0, panel.at),
    costs: panel.costs.slice(0, panel.at),
    states: steps,
  };
}

/** The states on the way to the current one, which is the last. */
async function statesOf(panel) {
  const found = [];
  for (let at = 0; at <= panel.at; at += 1) found.push(await source().state(bodyOf(panel, at)));
  return found;
}

async function rowsOf(panel) {
  const states = await statesOf(panel);
  return states.map((state, index) => {
    const taken = panel.moves[index];
    const move = index < panel.at ? state.legal.find((one) => one.move === taken) : null;
    return { lists: listsOf(state), legal: state.legal, taken: move?.move, adds: move?.adds, lost: move?.lost };
  });
}

const svgText = (panel) => `${new XMLSerializer().serializeToString(standalone(panel))}\n`;

/** The tree with its colours written out, light on any screen. */
function standalone(panel) {
  const { picture } = treeOf(panel);
  const place = document.createElement("div");
  place.className = "paper";
  place.append(picture);
  document.body.append(place);
  for (const element of picture.querySelectorAll("path, text, rect, circle, g")) {
    const style = getComputedStyle(element);
    for (const name of STYLE) {
      const value = style.getPropertyValue(name);
      const isNeeded = element.tagName === "g" ? name === "opacity" : true;
      if (value && isNeeded && value !== "normal") element.setAttribute(name, value);
    }
  }
  for (const element of picture.querySelectorAll("[class]")) element.removeAttribute("class");
  place.remove();
  picture.removeAttribute("class");
  return picture;
}
