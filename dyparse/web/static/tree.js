// A sentence with arcs over it, as SVG. Colours are classes, so that they follow light and dark.

import { h, s } from "./dom.js";
import { LEVEL, archPath, endsOf, levelsOf, placeWords } from "./layout.js";

const TIP = 6;

/**
 * The tree: words with their places ("stack", "buffer", …), and arcs {head, word, kind, label}.
 * `describe` is what a screen reader says of it.
 */
export function drawTree({ words, tags = null, arcs, places = [], describe, withRoot = true }) {
  const texts = [withRoot ? "ROOT" : "", ...words];
  const spots = placeWords(texts, arcs);
  const levels = levelsOf(arcs);
  const ends = endsOf(arcs, spots);
  const base = 14 + LEVEL * Math.max(1, ...levels.values());
  const height = base + (tags ? 58 : 44);
  const width = Math.ceil(spots.width);
  const picture = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": describe,
    class: "tree",
  });
  const inFront = (arc) => (arc.kind.startsWith("built") ? 2 : arc.kind.includes("lost") ? 1 : 0);
  for (const arc of [...arcs].sort((a, b) => inFront(a) - inFront(b))) {
    picture.append(drawArc(arc, ends.get(arc), base, levels.get(arc)));
  }
  texts.forEach((text, token) => {
    if (token || withRoot) picture.append(drawWord(text, token, spots, base, places, tags));
  });
  return { picture, spots, base, ends, levels };
}

/** The picture in a box that scrolls sideways. */
export function scrolling(picture, key) {
  return h("div", { class: "scroll", "data-scroll": key, role: "group", "aria-label": "drawing" }, picture);
}

function drawArc(arc, { from, to }, base, level) {
  const height = level * LEVEL;
  const group = s("g", {
    class: `arc ${arc.kind}`,
    "data-arc": `${arc.head}-${arc.word}`,
  });
  group.append(
    s("path", { class: "line", d: archPath(from, to, base - 2, height), fill: "none" }),
    s("path", { class: "tip", d: `M${to.toFixed(1)} ${base + 2}l-4 -${TIP + 2}h8z` }),
  );
  if (arc.label) {
    const x = ((from + to) / 2).toFixed(1);
    group.append(s("text", { class: "label", x, y: base - height + 1, "text-anchor": "middle" }, arc.label));
  }
  if (arc.title) group.append(s("title", {}, arc.title));
  return group;
}

function drawWord(text, token, spots, base, places, tags) {
  const x = spots.middles[token];
  const width = spots.widths[token];
  const group = s("g", { class: `word ${places[token] ?? ""}`, "data-token": token });
  group.append(
    s("rect", {
      x: (x - width / 2 - 5).toFixed(1), y: base + 6, width: (width + 10).toFixed(1), height: 22, rx: 5,
    }),
    s("text", { class: "form", x: x.toFixed(1), y: base + 22, "text-anchor": "middle" }, text),
  );
  const below = tags && token ? tags[token - 1] : null;
  if (below) group.append(s("text", { class: "tag", x: x.toFixed(1), y: base + 41, "text-anchor": "middle" }, below));
  const y = base + (tags ? 54 : 40);
  if (token) group.append(s("text", { class: "number", x: x.toFixed(1), y, "text-anchor": "middle" }, token));
  return group;
}
