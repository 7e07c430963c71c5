// Gold trees and options: what may be typed, dragged or read from an address.

/** The words of a cycle in heads of words 1..n, from a word back to itself; null for a tree. */
export function cycleIn(heads) {
  for (let word = 1; word <= heads.length; word += 1) {
    const path = [word];
    let at = heads[word - 1];
    while (at > 0 && !path.includes(at)) {
      path.push(at);
      at = heads[at - 1];
    }
    if (at > 0) return [...path.slice(path.indexOf(at)), at];
  }
  return null;
}

/** Whether these are heads of a tree over this many words. */
export function isTree(heads, words) {
  const areHeads = heads.length === words && heads.every((head, index) =>
    Number.isInteger(head) && head >= 0 && head <= words && head !== index + 1);
  return areHeads && cycleIn(heads) === null;
}

/** A tree to begin with: the first word is the root, all others depend on it. */
export function firstTree(words) {
  return words.map((_, index) => (index ? 1 : 0));
}

/** Options of a system from text or values; unknown ones are left out. */
export function optionsFor(system, given) {
  const found = {};
  for (const option of system.options) {
    if (!(option.name in given)) continue;
    const text = String(given[option.name]);
    if (option.type === "bool") found[option.name] = text === "true";
    else if (option.type === "int") found[option.name] = Number.parseInt(text, 10) || 0;
    else found[option.name] = text;
  }
  return found;
}
