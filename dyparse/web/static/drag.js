// Gold arcs whose upper ends can be dragged to another head, by mouse, pen or finger.

import { s } from "./dom.js";
import { LEVEL } from "./layout.js";
import { changeHead } from "./session.js";

/** Give every gold arc of a drawn tree a handle at its head. */
export function draggable({ picture, spots, base, ends, levels }) {
  for (const [arc, { from }] of ends) {
    const isGold = arc.kind.startsWith("gold") || arc.kind.includes("right");
    const y = base - LEVEL * (levels.get(arc) - 0.4); // each on a level of its own
    if (isGold) picture.append(handle(arc, { x: from, y }, base, spots, picture));
  }
  picture.classList.add("editable");
}

function handle(arc, { x, y }, base, spots, picture) {
  const circle = s("circle", {
    class: "handle", cx: x, cy: y, r: 7, "data-word": arc.word,
  }, s("title", {}, "drag to another head"));
  let line = null;
  const end = () => {
    line?.remove();
    line = null;
    for (const word of picture.querySelectorAll(".word.target")) word.classList.remove("target");
  };
  circle.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    circle.setPointerCapture(event.pointerId);
    line = s("path", { class: "pull", fill: "none" });
    picture.append(line);
  });
  circle.addEventListener("pointermove", (event) => {
    if (!line) return;
    const place = inPicture(picture, event);
    const target = spots.middles[arc.word];
    const top = Math.min(place.y, base) - 24;
    line.setAttribute("d", `M${place.x} ${place.y}C${place.x} ${top} ${target} ${top} ${target} ${base}`);
    const token = nearest(spots.middles, place.x);
    for (const word of picture.querySelectorAll(".word")) {
      word.classList.toggle("target", Number(word.dataset.token) === token && token !== arc.word);
    }
  });
  circle.addEventListener("pointerup", (event) => {
    if (!line) return;
    const token = nearest(spots.middles, inPicture(picture, event).x);
    end();
    if (token !== arc.word && token !== arc.head) changeHead(arc.word, token);
  });
  circle.addEventListener("pointercancel", end);
  return circle;
}

function inPicture(picture, event) {
  const box = picture.getBoundingClientRect();
  const scale = picture.viewBox.baseVal.width / box.width;
  return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale };
}

function nearest(middles, x) {
  const distance = (token) => Math.abs(middles[token] - x);
  return middles.reduce((best, _, token) => (distance(token) < distance(best) ? token : best), 0);
}
