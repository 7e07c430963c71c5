"use strict";
// Tables: a click on a column header sorts by that column.
const number = text => { const found = text.replace(/\u2212/g, "-").match(/-?\d+(\.\d+)?/); return found ? +found[0] : NaN; };
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") !== "descending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const text = row => row.cells[column].textContent;
    const isText = head.classList.contains("text");
    const key = row => { const value = number(text(row)); return isNaN(value) ? -Infinity : value; };
    const order = isText ? (a, b) => text(b).localeCompare(text(a)) : (a, b) => key(b) - key(a) || 0;
    const rows = [...table.tBodies[0].rows].sort((a, b) => down ? order(a, b) : order(b, a));
    table.tBodies[0].append(...rows);
  }));
}
// Sentence browser: filters, previous and next.
const packed = document.getElementById("pictures");
async function browse() {
  const bytes = Uint8Array.from(atob(packed.textContent), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const pictures = await new Response(stream).json();
  const form = document.getElementById("filters");
  let shown = pictures, place = 0;
  const draw = () => {
    const picture = shown[place];
    document.getElementById("tree").innerHTML = picture ? picture.svg : "";
    document.getElementById("about").textContent = picture ? picture.about : "No sentence matches these filters.";
    document.getElementById("place").textContent = shown.length ? `${place + 1} of ${shown.length}` : "none";
    document.getElementById("previous").disabled = place <= 0;
    document.getElementById("next").disabled = place >= shown.length - 1;
  };
  const choose = () => {
    const wanted = Object.fromEntries([...form.querySelectorAll("select")].map(s => [s.name, s.value]));
    shown = pictures.filter(p => Object.entries(wanted).every(([name, value]) => value === "" ||
      (name === "most_words" ? p.words <= +value : String(p[name]) === value)));
    place = 0;
    draw();
  };
  const go = step => { place = Math.min(Math.max(place + step, 0), Math.max(shown.length - 1, 0)); draw(); };
  form.addEventListener("change", choose);
  form.addEventListener("submit", event => event.preventDefault());
  document.getElementById("previous").addEventListener("click", () => go(-1));
  document.getElementById("next").addEventListener("click", () => go(1));
  choose();
}
if (packed) browse().catch(() => {
  document.getElementById("about").textContent = "This browser cannot show the pictures: it has no DecompressionStream.";
});
