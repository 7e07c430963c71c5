// The server's answers. A static page puts its own source in place of `server`.

const MOST_KEPT = 2000; // states that are remembered
const kept = new Map();

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("the server does not answer; is `dyparse serve` still running?");
  }
  const isJson = (answer.headers.get("content-type") ?? "").includes("json");
  const content = isJson ? await answer.json() : await answer.text();
  if (answer.ok) return content;
  throw new Error(content.error ?? content.detail ?? `the server answers ${answer.status}`);
}

function remembered(path, body) {
  const key = path + JSON.stringify(body);
  if (!kept.has(key)) {
    const answer = ask(path, body);
    kept.set(key, answer);
    answer.catch(() => kept.delete(key));
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
  }
  return kept.get(key);
}

const server = {
  isStatic: false,
  systems: () => ask("api/systems"),
  models: () => ask("api/models"),
  treebanks: () => ask("api/treebanks"),
  sentences: (name, offset, limit, search) =>
    ask(`api/treebanks/${encodeURIComponent(name)}/sentences?${new URLSearchParams({ offset, limit, search })}`),
  readConllu: (conllu) => ask("api/sentences", { conllu }),
  state: (body) => remembered("api/state", body),
  play: (body) => ask("api/play", body),
  parse: (body) => ask("api/parse", body),
};

let current = server;

/** Where states come from. */
export const source = () => current;

/** Take states from elsewhere. */
export function useSource(other) {
  current = other;
}
