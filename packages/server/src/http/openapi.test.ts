import { createClient, ROUTES } from "@signalbox/contract";
import { expect, test } from "vitest";
import type { ApiScheduler } from "./api-scheduler.ts";
import { createApi } from "./create-api.ts";
import { describeApi, type JsonSchema } from "./openapi.ts";
import { renderApiPage } from "./openapi-page.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const app = createApi({
  scheduler: {} as ApiScheduler,
  serverId: "server-1",
  logger: { error: () => {} },
  metrics: { contentType: "text/plain", render: async () => "" },
  token: TOKEN,
});

/** Every route that the server has, as Fastify prints them. */
async function routesOfApp(): Promise<readonly string[]> {
  await app.ready();
  // One line for each path, with its methods behind it: "/api/v1/runs/:id (GET, HEAD)".
  const lines = app.printRoutes({ commonPrefix: false }).split("\n");
  const parents: string[] = [];
  return lines.flatMap((line) => {
    const found = /^(?<indent>[│├└─ ]*)(?<part>\S+)(?: \((?<methods>[A-Z, ]+)\))?$/.exec(line);
    if (found?.groups === undefined) return [];
    const { indent = "", part = "", methods = "" } = found.groups;
    const depth = indent.length / 4 - 1;
    parents.splice(depth, Infinity, part);
    const path = parents.join("").replace(/^\/\//, "/");
    return methods
      .split(", ")
      .filter((method) => method !== "" && method !== "HEAD")
      .map((method) => `${method} ${path}`);
  });
}

test("the description has every route of the server, and no other", async () => {
  const routes = await routesOfApp();
  const described = Object.entries(describeApi("1.2.3").paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
  );

  expect(routes.length).toBeGreaterThan(30);
  expect(described.toSorted()).toEqual(routes.toSorted());
});

test("each has a name of its own, and the client a method for each but what browsers and machines ask for", () => {
  const client = createClient("http://127.0.0.1:1");
  const names = ROUTES.map(({ name }) => name);

  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !(name in client))).toEqual([
    "live",
    "ready",
    "metrics",
    "beginSession",
    "endSession",
    "openapi",
    "docs",
    "docsStyle",
  ]);
});

test("every reference leads to a schema, and every schema is used", () => {
  const { paths, components } = describeApi("1.2.3");
  const used = new Set(JSON.stringify([paths, components]).match(/#\/components\/schemas\/\w+/g));

  const there = Object.keys(components.schemas).map((name) => `#/components/schemas/${name}`);
  expect([...used].toSorted()).toEqual(there.toSorted());
});

test("a request, its query and its answer are told as they are read", () => {
  const { paths, components } = describeApi("1.2.3");

  const list = paths["/api/v1/task-runs"]?.["get"];
  const parameter = (name: string) => list?.parameters.find((each) => each.name === name);
  expect(parameter("limit")).toMatchObject({
    in: "query",
    required: false,
    schema: { type: "integer", minimum: 1, maximum: 500 },
  });
  expect(parameter("status")).toMatchObject({ style: "form", explode: false, schema: { type: "array" } });
  expect(paths["/api/v1/stream"]?.["get"]?.parameters).toEqual([
    { name: "topic", in: "query", required: true, schema: { type: "array", items: { type: "string" } } },
  ]);
  expect(parameter("before")?.schema).toEqual({ type: "string", format: "uuid" });
  expect(paths["/api/v1/queues/{name}"]?.["put"]).toMatchObject({
    operationId: "setQueue",
    parameters: [{ name: "name", in: "path", required: true }],
    requestBody: { required: true },
    responses: { 204: { description: "Done" }, default: {} },
  });
  const spec = components.schemas["TaskSpec"] as JsonSchema & { properties: Record<string, JsonSchema> };
  expect(spec["required"]).toEqual(["kind"]);
  expect(spec["additionalProperties"]).toBe(false);
  expect(spec.properties["runAt"]).toEqual({ type: "string", format: "date-time" });
  expect(components.schemas["Overview"]).not.toHaveProperty("additionalProperties");
});

test("the page is text, without scripts and without anything from elsewhere", async () => {
  const headers = { host: "127.0.0.1:7410", authorization: `Bearer ${TOKEN}` };
  const page = await app.inject({ url: "/docs", headers });
  const style = await app.inject({ url: "/docs/style.css", headers });
  const json = await app.inject({ url: "/api/v1/openapi.json", headers });

  expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(style.headers["content-type"]).toBe("text/css; charset=utf-8");
  expect(json.json()).toMatchObject({ openapi: "3.1.1" });
  expect(page.body).not.toMatch(/<script|style=|\son\w+=|https?:|url\(/i);
  expect(style.body).not.toMatch(/@import|url\(|https?:/i);
  for (const { path } of ROUTES) expect(page.body).toContain(path.replaceAll(/:(\w+)/g, "{$1}"));
});

test("what the page is made from is shown, never obeyed", () => {
  const described = describeApi("<b>1</b>");
  const schemas = { "<img src=x>": { type: "object", properties: { '"><script>': { const: "</code>" } } } };

  const page = renderApiPage({ ...described, components: { schemas } });

  expect(page).toContain("&lt;b&gt;1&lt;/b&gt;");
  expect(page).not.toMatch(/<script|<img/);
});
