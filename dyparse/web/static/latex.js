// LaTeX of a tree (tikz-dependency) and of a derivation (booktabs), as `dyparse` writes them.

const COMMANDS = {
  "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", $: "\\$", "&": "\\&", "#": "\\#", "%": "\\%",
  _: "\\_", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}", "<": "\\textless{}",
  ">": "\\textgreater{}", "|": "\\textbar{}", '"': "\\symbol{34}", "−": "\\textminus{}",
  "…": "\\ldots{}", "→": "$\\rightarrow$",
};
const SPECIAL = /[\\{}$&#%_^~<>|"−…→]|(?<=([-,'`]))(?=\1)|^(?=[*[])/g;

/** A text in which nothing is markup. */
export const escaped = (text) =>
  String(text).replace(/[\p{Cc}]/gu, "?").replace(SPECIAL, (found) => COMMANDS[found] ?? "{}");

const STYLES = {
  wrong: "edge style = {orange!80!black, thick}",
  lost: "edge style = {red!80!black, densely dashed}",
  waiting: "edge style = {gray!60}",
};

/** The arcs of a state, as a `dependency` environment with the styles that it needs. */
export function tikz(words, tags, arcs) {
  const cell = (text) => escaped(text).replaceAll("\\&", "\\symbol{38}");
  const row = (texts, font = "") => `    ${texts.map((text) => font + cell(text)).join(" \\& ")} \\\\`;
  const lines = [
    "% needs \\usepackage{tikz-dependency}",
    ...Object.entries(STYLES).map(([name, style]) => `\\depstyle{${name}}{${style}}`),
    "\\begin{dependency}",
    "  \\begin{deptext}[column sep=1em]",
    row(words),
    ...(tags ? [row(tags, "\\scriptsize ")] : []),
    "  \\end{deptext}",
  ];
  for (const { head, word, kind, label } of arcs) {
    const style = styleOf(kind);
    const options = style ? `[${style}]` : "";
    const name = cell(label ?? "");
    lines.push(head === 0
      ? `  \\deproot${options}{${word}}{${name || "root"}}`
      : `  \\depedge${options}{${head}}{${word}}{${name}}`);
  }
  return [...lines, "\\end{dependency}", ""].join("\n");
}

function styleOf(kind) {
  if (kind.includes("wrong")) return "wrong";
  if (kind.includes("lost")) return "lost";
  return kind.startsWith("gold") ? "waiting" : "";
}

/** A derivation as a table: [{lists, legal, taken, cost}] with the names of the lists. */
export function booktabs(rows, titles, words) {
  const token = (number) => (number ? `${escaped(words[number - 1])}$_{${number}}$` : "ROOT");
  const price = (move) =>
    move.cost === null ? escaped(move.move)
      : move.best ? `\\textbf{${escaped(move.move)}~${move.cost}}` : `${escaped(move.move)}~${move.cost}`;
  const lines = rows.map((row, index) => [
    index + 1,
    ...row.lists.map(([, tokens]) => tokens.map(token).join(" ")),
    row.legal.map(price).join(", "),
    escaped(row.taken ?? ""),
    (row.adds ?? []).map(([head, word]) => `${token(head)} $\\rightarrow$ ${token(word)}`).join(", "),
    (row.lost ?? []).map(([head, word]) => `${token(head)} $\\rightarrow$ ${token(word)}`).join(", "),
  ].join(" & ") + " \\\\");
  const names = titles.map((title) => title.replace(/^λ(\d)$/, "$\\lambda_$1$"));
  const columns = `r${"r".repeat(titles.length - 1)}l${"l".repeat(4)}`;
  return [
    "% needs \\usepackage{booktabs}",
    `\\begin{tabular}{${columns}}`,
    "\\toprule",
    `& ${[...names, "legal moves", "move", "arc", "lost"].join(" & ")} \\\\`,
    "\\midrule",
    ...lines,
    "\\bottomrule",
    "\\end{tabular}",
    "",
  ].join("\n");
}
