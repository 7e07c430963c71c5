// Stack and buffer of a state, and other lists that a system has, as rows of words.

import { h } from "./dom.js";
import { session } from "./session.js";

/** The lists of a state from left to right: [name, tokens, kind]. */
export function listsOf(state) {
  const others = Object.entries(state.lists ?? {});
  const first = others.length
    ? others.map(([name, tokens], index) => [name, tokens, index ? "passed" : "stack"])
    : [["stack", state.stack, "stack"]];
  return [...first, ["buffer", state.buffer, "buffer"]];
}

/** For every token the kind of list that it is in; "done" if in none, and which two are next. */
export function placesOf(state, words) {
  const places = Array.from({ length: words + 1 }, () => "done");
  for (const [, tokens, kind] of listsOf(state)) {
    for (const token of tokens) places[token] = `on-${kind}`;
  }
  const ends = [state.stack.at(-1), state.buffer[0]];
  for (const token of ends) if (token !== undefined) places[token] += " next";
  return places;
}

export function drawState(state) {
  const lists = listsOf(state);
  return h("div", { class: `state lists-${lists.length}` },
    lists.map(([name, tokens, kind]) =>
      h("div", { class: `list on-${kind}` },
        h("span", { class: "title" }, name),
        h("ol", { "aria-label": name, "data-scroll": name },
          tokens.length ? tokens.map((token) => chip(token)) : h("li", { class: "empty" }, "empty")))));
}

function chip(token) {
  const form = token ? session.sentence.words[token - 1] : "ROOT";
  return h("li", { class: "token" }, form, token > 0 && h("sub", {}, token));
}

/** Scroll the stack to its top, at its right end; what scrolls can be reached by the keyboard. */
export function showTops(root) {
  for (const list of root.querySelectorAll(".list.on-stack ol")) list.scrollLeft = list.scrollWidth;
  for (const box of root.querySelectorAll(".list ol, .scroll")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
}
