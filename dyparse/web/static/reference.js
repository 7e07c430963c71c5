// The page of the HTTP interface: every operation of openapi.json, with what it takes and gives.

import { h } from "./dom.js";

/** The schema with everything that it refers to in its place; what contains itself is named. */
function resolved(schema, all, within = []) {
  if (Array.isArray(schema)) return schema.map((part) => resolved(part, all, within));
  if (schema === null || typeof schema !== "object") return schema;
  const name = schema.$ref?.split("/").at(-1);
  if (name) return within.includes(name) ? name : resolved(all[name], all, [...within, name]);
  const parts = Object.entries(schema).filter(([key, part]) => key !== "title" || typeof part !== "string");
  return Object.fromEntries(parts.map(([key, part]) => [key, resolved(part, all, within)]));
}

const schemaIn = (part) => Object.values(part?.content ?? {})[0]?.schema;

function details(title, schema, all) {
  if (!schema) return null;
  return h("details", {},
    h("summary", {}, title), h("pre", {}, JSON.stringify(resolved(schema, all), null, 2)));
}

function card(method, path, operation, all) {
  const parameters = (operation.parameters ?? []).map((p) =>
    h("li", {}, h("code", {}, p.name), ` in ${p.in}${p.required ? ", required" : ""}`));
  const statuses = Object.entries(operation.responses ?? {}).map(([status, answer]) =>
    h("li", {}, h("code", {}, status), ` ${answer.description}`));
  return h("section", { class: "card", "aria-label": `${method} ${path}` },
    h("h2", {}, h("code", {}, `${method.toUpperCase()} ${path}`)),
    h("p", {}, operation.summary ?? ""),
    parameters.length ? h("ul", {}, parameters) : null,
    details("takes", schemaIn(operation.requestBody), all),
    details("gives", schemaIn(operation.responses?.["200"]), all),
    h("ul", { class: "note" }, statuses));
}

async function show() {
  const description = await (await fetch("openapi.json")).json();
  const all = description.components?.schemas ?? {};
  const cards = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => card(method, path, operation, all)));
  document.getElementById("operations").replaceChildren(...cards);
}

show().catch((error) => {
  document.getElementById("error").textContent = `the description cannot be shown: ${error.message}`;
});
