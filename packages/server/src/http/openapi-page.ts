/**
 * The description of the API as a page for people: no script, nothing from elsewhere, every text escaped. Its links are
 * relative: the server may serve below some path.
 */

import type { JsonSchema, OpenApi, Operation, Parameter } from "./openapi.ts";

export function renderApiPage({ info, paths, components }: OpenApi): string {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const groups = [...new Set(routes.map(({ operation }) => operation.tags[0]))];
  const sections = groups.map((group) => {
    const own = routes.filter(({ operation }) => operation.tags[0] === group);
    return `<section id="${slug(group)}"><h2>${escape(group)}</h2>${own.map(renderRoute).join("")}</section>`;
  });
  const schemas = Object.entries(components.schemas).map(renderSchema);
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escape(info.title)} API</title><link rel="stylesheet" href="docs/style.css"></head><body>`,
    `<header><h1>${escape(info.title)} API <small>${escape(info.version)}</small></h1>`,
    `<p>${inlineCode(info.description)}</p>`,
    '<p>The same for machines: <a href="api/v1/openapi.json">openapi.json</a>.</p></header>',
    `<nav aria-label="Contents"><ul>${[...groups, "Schemas"].map(renderLink).join("")}</ul></nav>`,
    `<main>${sections.join("")}<section id="schemas"><h2>Schemas</h2>${schemas.join("")}</section></main>`,
    "</body></html>\n",
  ].join("\n");
}

function renderLink(heading: string): string {
  return `<li><a href="#${slug(heading)}">${escape(heading)}</a></li>`;
}

interface ShownRoute {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

function renderRoute({ method, path, operation }: ShownRoute): string {
  const { operationId, summary, parameters, requestBody, responses } = operation;
  const body = requestBody === undefined ? [] : Object.values(requestBody.content);
  const rows = [
    ...parameters.map(renderParameter),
    ...body.map(({ schema }) => row("body", typeOf(schema), requestBody?.required === true)),
    ...Object.entries(responses)
      .filter(([status]) => status !== "default")
      .map(([status, { content }]) => row(`answers ${status}`, contentOf(content), null)),
  ];
  return [
    `<article id="${slug(operationId)}">`,
    `<h3><span class="method">${escape(method.toUpperCase())}</span> <code>${escape(path)}</code></h3>`,
    `<p>${inlineCode(summary)}</p><table><tbody>${rows.join("")}</tbody></table></article>`,
  ].join("");
}

function renderParameter({ name, in: place, required, schema }: Parameter): string {
  return row(`${place} ${name}`, typeOf(schema), required);
}

function contentOf(content: Readonly<Record<string, { readonly schema: JsonSchema }>> | undefined): string {
  if (content === undefined) return "nothing";
  return Object.entries(content)
    .map(([type, { schema }]) => (type === "application/json" ? typeOf(schema) : escape(type)))
    .join(", ");
}

/** `type` is escaped already. */
function row(name: string, type: string, required: boolean | null): string {
  const need = required === null ? "" : required ? "required" : "optional";
  return `<tr><th scope="row">${escape(name)}</th><td><code>${type}</code></td><td>${need}</td></tr>`;
}

function renderSchema([name, schema]: readonly [string, JsonSchema]): string {
  const members = membersOf(schema);
  const shown =
    members.length === 0
      ? renderChoices(schema)
      : `<table><tbody>${members.map((each) => row(each.name, typeOf(each.schema), each.required)).join("")}</tbody></table>`;
  return `<article id="schema-${slug(name)}"><h3>${escape(name)}</h3>${shown}</article>`;
}

function renderChoices(schema: JsonSchema): string {
  const choices = choicesOf(schema) ?? [schema];
  return `<ul>${choices.map((choice) => `<li><code>${typeOf(choice)}</code></li>`).join("")}</ul>`;
}

function choicesOf({ anyOf, oneOf }: JsonSchema): readonly JsonSchema[] | null {
  const choices = anyOf ?? oneOf;
  return Array.isArray(choices) ? (choices as readonly JsonSchema[]) : null;
}

interface Member {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

function membersOf(schema: JsonSchema): readonly Member[] {
  const { properties, required } = schema as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties ?? {}).map(([name, member]) => ({
    name,
    schema: member,
    required: required?.includes(name) === true,
  }));
}

/** A type in one line, escaped, with links to those that have a name. */
function typeOf(schema: JsonSchema): string {
  const { $ref, const: constant, enum: words, format } = schema;
  if (typeof $ref === "string") return linkTo($ref.split("/").at(-1) ?? "");
  if (constant !== undefined) return escape(JSON.stringify(constant));
  if (Array.isArray(words)) return words.map((word) => escape(JSON.stringify(word))).join(" | ");
  const choices = choicesOf(schema);
  if (choices !== null) return [...new Set(choices.map(typeOf))].join(" | ");
  if (typeof format === "string") return escape(format);
  return structureOf(schema);
}

function structureOf(schema: JsonSchema): string {
  const { type, items, additionalProperties } = schema;
  if (type === "array") return `${arrayItem(items as JsonSchema)}[]`;
  if (Array.isArray(type)) return escape(type.join(" | "));
  if (type !== "object") return typeof type === "string" ? `${escape(type)}${boundsOf(schema)}` : "any JSON";
  const members = membersOf(schema);
  if (members.length > 0) {
    const shown = members.map(
      ({ name, schema: member, required }) => `${escape(name)}${required ? "" : "?"}: ${typeOf(member)}`,
    );
    return `{ ${shown.join("; ")} }`;
  }
  const values =
    typeof additionalProperties === "object" ? typeOf(additionalProperties as JsonSchema) : "any JSON";
  return `{ [name]: ${values} }`;
}

function boundsOf({ minimum, maximum }: JsonSchema): string {
  const from = typeof minimum === "number" ? ` from ${minimum}` : "";
  return typeof maximum === "number" ? `${from} to ${maximum}` : from;
}

function arrayItem(items: JsonSchema): string {
  const item = typeOf(items);
  return item.includes(" | ") ? `(${item})` : item;
}

function linkTo(name: string): string {
  return `<a href="#schema-${slug(name)}">${escape(name)}</a>`;
}

function slug(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
}

function inlineCode(text: string): string {
  return escape(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

export const API_PAGE_STYLE = `:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
h1 small { font-weight: 400; opacity: .7; }
h2 { border-bottom: 1px solid var(--line); margin-top: 3rem; padding-bottom: .25rem; }
h3 { font-size: 1.05rem; margin: 2rem 0 .25rem; overflow-wrap: anywhere; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; padding: 0; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
.method { display: inline-block; min-width: 4.5rem; font-family: ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; }
th, td { border-top: 1px solid var(--line); padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top; }
th { font-weight: 500; width: 16rem; }
td:last-child { width: 5rem; opacity: .7; }
article:target { background: var(--soft); }
@media (max-width: 40rem) { th { width: auto; } td:last-child { display: none; } }
`;
