/** A request to one of the routes of the contract that nobody in their right mind would send, or somebody who is in it. */

import { ROUTES, type Route } from "@signalbox/contract";
import { describeApi, type Operation } from "../../packages/server/src/http/openapi.ts";
import type { Random } from "../ha/random.ts";
import { type DrawSetup, drawText, drawValue } from "./draw-value.ts";
import { JSON_TEXTS } from "./json-texts.ts";
import { PATH_TEXTS } from "./path-texts.ts";

export interface DrawnRequest {
  readonly route: Route;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
}

const { paths, components } = describeApi("0");
const OTHER_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const OTHER_TYPES = [
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/json; charset=utf-16",
  "application/xml",
  "",
] as const;

/** A little of it gets far, much of it is refused at once; both are worth asking. */
const HOSTILITIES = [0.02, 0.1, 0.3, 0.9] as const;

export function drawRequest(random: Random, known: readonly string[], token: string): DrawnRequest {
  const route = random.pick(ROUTES);
  const setup: DrawSetup = { known, hostility: random.pick(HOSTILITIES), schemas: components.schemas };
  const operation = operationOf(route);
  const method = random.chance(0.98) ? route.method : random.pick(OTHER_METHODS);
  const body = method === "GET" || method === "HEAD" ? null : drawBody(random, operation, setup);
  return {
    route,
    method,
    path: `${drawPath(random, route, setup)}${drawQuery(random, operation, setup)}`,
    headers: { ...drawHeaders(random, token, setup), ...(body === null ? {} : drawType(random)) },
    body,
  };
}

function operationOf({ path, method }: Route): Operation {
  const operation = paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`${method} ${path} is not described`);
  return operation;
}

function drawPath(random: Random, { path }: Route, setup: DrawSetup): string {
  return path.replaceAll(/:\w+/g, () => {
    if (random.chance(0.05)) return random.pick(PATH_TEXTS);
    return encoded(drawText(random, setup).slice(0, 700)) || "%20";
  });
}

function drawQuery(random: Random, { parameters }: Operation, setup: DrawSetup): string {
  const pairs = parameters
    .filter((parameter) => parameter.in === "query" && random.chance(parameter.required ? 0.95 : 0.4))
    .map(({ name, schema }) => `${name}=${encoded(asText(drawValue(random, schema, setup)))}`);
  if (random.chance(0.05)) pairs.push(`${encoded(drawText(random, setup))}=1`);
  if (random.chance(0.03)) pairs.push(...pairs);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function drawBody(random: Random, { requestBody }: Operation, setup: DrawSetup): string | Buffer | null {
  const chance = random.next();
  if (chance < 0.03) return random.pick(JSON_TEXTS).text;
  if (chance < 0.05) return Buffer.from(drawText(random, setup), "latin1");
  if (chance < 0.08) return null;
  const schema = requestBody?.content["application/json"]?.schema;
  if (schema === undefined) return null;
  const written = JSON.stringify(drawValue(random, schema, setup));
  return chance < 0.11 ? written.slice(0, random.between(0, written.length)) : written;
}

function drawHeaders(random: Random, token: string, setup: DrawSetup): Record<string, string> {
  const chance = random.next();
  return {
    // Nobody is refused for asking too often: each of them comes from elsewhere.
    "x-forwarded-for": Array.from({ length: 4 }, () => random.between(1, 250)).join("."),
    ...(chance < 0.9 ? { authorization: `Bearer ${token}` } : {}),
    ...(chance >= 0.94 ? { authorization: `Bearer ${headerText(drawText(random, setup))}` } : {}),
    ...(random.chance(0.05) ? { cookie: headerText(drawText(random, setup)) } : {}),
    ...(random.chance(0.05) ? { origin: headerText(drawText(random, setup)) } : {}),
    ...(random.chance(0.05) ? { "x-request-id": headerText(drawText(random, setup)) } : {}),
    ...(random.chance(0.1) ? { "idempotency-key": headerText(drawText(random, setup)) } : {}),
  };
}

function drawType(random: Random): Record<string, string> {
  return { "content-type": random.chance(0.97) ? "application/json" : random.pick(OTHER_TYPES) };
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.map(asText).join();
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Half of a surrogate pair cannot be written in an address. */
function encoded(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, "\ufffd")).slice(0, 8_000);
}

/** What can be in a header at all; the rest never leaves the client. */
function headerText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e\xa1-\xff]/g, "?").slice(0, 1_000);
}
