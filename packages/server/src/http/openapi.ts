/** The description of the API as OpenAPI 3.1, made from the contract: nothing is said about the wire anywhere else. */

import { NAMED_SCHEMAS, ROUTES, type Route } from "@signalbox/contract";
import { z } from "zod";

/** A JSON schema, as far as it is looked at here. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly style?: "form";
  readonly explode?: false;
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

interface Answer {
  readonly description: string;
  readonly content?: Content;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
}

export interface OpenApi {
  readonly openapi: "3.1.1";
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  /** By path and method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

const DESCRIPTION = [
  "A task scheduler on PostgreSQL. Instants are ISO 8601 with an offset. Members of a request that are not known are refused;",
  "an answer may get more members. Whatever is not a success is a problem as RFC 9457 has it, with a stable `code`.",
].join(" ");

export function describeApi(version: string): OpenApi {
  const names = schemaNames();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of ROUTES) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, names) };
  }
  return {
    openapi: "3.1.1",
    info: { title: "Signalbox", version, description: DESCRIPTION },
    paths,
    components: { schemas: componentsOf(names) },
  };
}

type SchemaNames = ReadonlyMap<z.ZodType, string>;

/** What is a choice of several, and only used by one route, is called after the route. */
function schemaNames(): SchemaNames {
  const names = new Map(Object.entries(NAMED_SCHEMAS).map(([name, schema]) => [schema, name]));
  for (const { name, body, answer } of ROUTES) {
    const capital = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    if (body !== undefined && !names.has(body)) names.set(body, `${capital}Request`);
    if (answer instanceof z.ZodType && !names.has(answer)) names.set(answer, `${capital}Answer`);
  }
  return names;
}

function componentsOf(names: SchemaNames): Readonly<Record<string, JsonSchema>> {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of names) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io: "input", uri: refTo, override: shorten });
  return Object.fromEntries(
    Object.entries(schemas)
      .map(([name, schema]) => [name, withoutItsPlace(schema as JsonSchema)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** Where it stands says which it is. */
function withoutItsPlace(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => keyword !== "$schema" && keyword !== "$id"),
  );
}

function refTo(name: string): string {
  return `#/components/schemas/${name}`;
}

interface Bounded {
  format?: unknown;
  pattern?: unknown;
  minimum?: unknown;
  maximum?: unknown;
}

/** The pattern of an instant or a UUID says no more than its format, at length; and every number is one of JavaScript. */
function shorten({ jsonSchema }: { readonly jsonSchema: Bounded }): void {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

function operationOf(route: Route, names: SchemaNames): Operation {
  const { name, group, summary, body, bodyOptional } = route;
  const content = body === undefined ? null : jsonContent(body, names);
  return {
    operationId: name,
    tags: [group],
    summary,
    parameters: [...pathParameters(route), ...queryParameters(route), ...headersOf(route)],
    ...(content === null ? {} : { requestBody: { required: bodyOptional !== true, content } }),
    responses: {
      [String(statusOf(route))]: answerOf(route, names),
      default: { description: "A problem", content: problemContent() },
    },
  };
}

function statusOf({ status, answer }: Route): number {
  return status ?? (answer === null ? 204 : 200);
}

function answerOf({ answer }: Route, names: SchemaNames): Answer {
  if (answer === null) return { description: "Done" };
  const description = "What was asked for";
  if (typeof answer !== "string") return { description, content: jsonContent(answer, names) };
  return {
    description,
    content: { [answer]: { schema: { type: answer.endsWith("json") ? "object" : "string" } } },
  };
}

function jsonContent(schema: z.ZodType, names: SchemaNames): Content {
  return { "application/json": { schema: { $ref: refTo(names.get(schema) ?? "") } } };
}

function problemContent(): Content {
  return { "application/problem+json": { schema: { $ref: refTo("Problem") } } };
}

function pathParameters({ path }: Route): readonly Parameter[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

/** As what they are read, not as the text that they are written in: a list has commas between its items. */
function queryParameters({ query }: Route): readonly Parameter[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: "output", override: shorten });
  const { properties: asWritten = {} } = z.toJSONSchema(query, { io: "input" });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema: schema as JsonSchema,
    ...(isList(schema) && !isList(asWritten[name]) ? { style: "form", explode: false } : {}),
  }));
}

function isList(schema: unknown): boolean {
  return (schema as JsonSchema | undefined)?.["type"] === "array";
}

function headersOf({ idempotent }: Route): readonly Parameter[] {
  if (idempotent !== true) return [];
  return [{ name: "Idempotency-Key", in: "header", required: false, schema: { type: "string" } }];
}
