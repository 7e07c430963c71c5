// Where words and arcs of a drawn tree go.

export const LEVEL = 22; // pixels between arcs
const GAP = 20; // between words
const SPREAD = 7; // between ends of arcs at one word

let pencil = null;

/** The width of a text in the font of words. */
export function textWidth(text, font = "15px system-ui, sans-serif") {
  pencil ??= document.createElement("canvas").getContext("2d");
  pencil.font = font;
  return pencil.measureText(text).width;
}

/** The middle and the width of every token; its arcs need room for their labels. */
export function placeWords(texts, arcs) {
  const widths = texts.map((text) => Math.max(18, textWidth(text)));
  const middles = [];
  let x = 14;
  for (let token = 0; token < texts.length; token += 1) {
    middles[token] = x + widths[token] / 2;
    x += widths[token] + GAP;
    const label = arcs.find((a) => a.label && low(a) === token && high(a) === token + 1)?.label;
    if (label) {
      const room = textWidth(label, "11px system-ui, sans-serif") + 26;
      const next = Math.max(18, textWidth(texts[token + 1]));
      x = Math.max(x, middles[token] + room - next / 2);
    }
  }
  return { middles, widths, width: x - GAP + 14 };
}

/** The level of every arc: above all that lies under it, and not that of one which it crosses. */
export function levelsOf(arcs) {
  const levels = new Map();
  const done = [];
  const bySpan = [...arcs].sort((a, b) => span(a) - span(b) || low(a) - low(b));
  for (const arc of bySpan) {
    const under = done.filter((other) => low(arc) <= low(other) && high(other) <= high(arc));
    const taken = new Set(done.filter((other) => cross(arc, other)).map((o) => levels.get(o)));
    let level = 1 + Math.max(0, ...under.map((other) => levels.get(other)));
    while (taken.has(level)) level += 1;
    levels.set(arc, level);
    done.push(arc);
  }
  return levels;
}

/** For every arc the x of its two ends, spread so that arcs at one word do not touch. */
export function endsOf(arcs, words) {
  const ends = new Map(arcs.map((arc) => [arc, {}]));
  words.middles.forEach((middle, token) => {
    const here = arcs.filter((arc) => arc.head === token || arc.word === token);
    const other = (arc) => (arc.head === token ? arc.word : arc.head);
    const left = here.filter((arc) => other(arc) < token).sort((a, b) => span(a) - span(b));
    const right = here.filter((arc) => other(arc) > token).sort((a, b) => span(b) - span(a));
    const inOrder = [...left, ...right];
    const step = Math.min(SPREAD, (words.widths[token] + 8) / Math.max(1, inOrder.length));
    inOrder.forEach((arc, k) => {
      const x = middle + (k - (inOrder.length - 1) / 2) * step;
      ends.get(arc)[arc.head === token ? "from" : "to"] = x;
    });
  });
  return ends;
}

/** Whether the arc of a word crosses another one, of words 1..n with these heads. */
export function crossings(heads) {
  const arcs = heads.map((head, index) => ({ head, word: index + 1 }));
  return arcs.filter((arc) => arcs.some((other) => cross(arc, other))).length;
}

/** A line with round corners from (from, base) up to a height, over, and down to (to, base). */
export function archPath(from, to, base, height) {
  const way = Math.sign(to - from) || 1;
  const round = Math.min(16, Math.abs(to - from) / 2, height);
  const top = base - height;
  const number = (value) => value.toFixed(1).replace(/\.0$/, "");
  const place = (x, y) => `${number(x)} ${number(y)}`;
  return (
    `M${place(from, base)}V${number(top + round)}Q${place(from, top)} ` +
    `${place(from + way * round, top)}H${number(to - way * round)}` +
    `Q${place(to, top)} ${place(to, top + round)}V${number(base)}`
  );
}

export const low = (arc) => Math.min(arc.head, arc.word);
export const high = (arc) => Math.max(arc.head, arc.word);
const span = (arc) => high(arc) - low(arc);

function cross(one, other) {
  const [a, b, c, d] = [low(one), high(one), low(other), high(other)];
  return (a < c && c < b && b < d) || (c < a && a < d && d < b);
}
