/** Asks a real server anything, many times over, and looks at every answer. */

import { Agent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { createClient, ROUTES, type Route } from "@signalbox/contract";
import type { TestDatabase } from "@signalbox/core/testing";
import { type Random, randomFrom } from "../ha/random.ts";
import { type Server, startServer, TOKEN } from "../ha/serve-process.ts";
import { requireTaken, type Sometimes } from "../ha/sometimes.ts";
import { until } from "../ha/until.ts";
import { type DrawnRequest, drawRequest } from "../hostile/draw-request.ts";
import { type Answer, judgeAnswer } from "./judge-answer.ts";

const TASKS = fileURLToPath(new URL("./echo-tasks.mjs", import.meta.url));
/** Enough to keep the server busy, and few enough to leave it the machine. */
const AT_ONCE = 8;
const WITHIN_MS = 30_000;
const IDS_KEPT = 60;
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

export interface AskedAnything {
  /** How often each status was answered. */
  readonly statuses: Sometimes;
  /** How often each route was asked, by method and path. */
  readonly routes: Sometimes;
}

export async function askAnything(
  database: TestDatabase,
  { seed, requests }: { readonly seed: number; readonly requests: number },
): Promise<AskedAnything> {
  const secrets = [TOKEN, ...passwordIn(database.url)];
  const server = await startServer(database.url, {
    tasks: false,
    words: ["--tasks", TASKS],
    env: { SIGNALBOX_TRUSTED_PROXIES: "127.0.0.1", SIGNALBOX_LOG_LEVEL: "info" },
  });
  try {
    const asked = await askAll({ server, secrets }, randomFrom(seed), requests);
    await stillWorks(server);
    server.kill("SIGTERM");
    const { code, stderr } = await server.ended;
    if (code !== 0) throw new Error(`The server ended with ${code}`);
    requireQuietLog(stderr, secrets);
    return asked;
  } finally {
    server.kill("SIGKILL");
    await server.ended;
  }
}

interface Asked {
  readonly server: Server;
  /** Nothing may tell them. */
  readonly secrets: readonly string[];
}

async function askAll({ server, secrets }: Asked, random: Random, requests: number): Promise<AskedAnything> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const known: string[] = ["echo", "default", "q1", "database:orders"];
  const statuses: Record<string, number> = {};
  const routes = Object.fromEntries(ROUTES.map((route) => [nameOf(route), 0]));
  let next = 0;
  const askInTurn = async (): Promise<void> => {
    for (;;) {
      const number = next;
      next += 1;
      if (number >= requests) return;
      // Each has numbers of its own: the seed repeats it, whatever was answered before.
      const drawn = drawRequest(random.fork(`request ${number}`), known, TOKEN);
      const answer = await exchange(server, agent, drawn);
      const wrong = judgeAnswer(drawn, answer, secrets);
      if (wrong.length > 0)
        throw new Error(`Request ${number} ${show(drawn)}\n${wrong.join("\n")}\n${answer.text}`);
      learn(known, answer.text);
      count(statuses, String(answer.status));
      count(routes, nameOf(drawn.route));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askInTurn));
  agent.destroy();
  requireTaken(routes);
  return { statuses, routes };
}

async function exchange({ port }: Server, agent: Agent, drawn: DrawnRequest): Promise<Answer> {
  const { method, path, headers, body } = drawn;
  return await new Promise((resolve, reject) => {
    const length = body === null ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const sent = request(
      {
        agent,
        host: "127.0.0.1",
        port,
        method,
        path,
        headers: { ...headers, ...length },
        timeout: WITHIN_MS,
      },
      (response) => {
        let text = "";
        const end = (): void =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
          // A stream has no end: its beginning is its answer.
          if (String(response.headers["content-type"]).startsWith("text/event-stream")) {
            end();
            response.destroy();
          }
        });
        response.on("end", end).on("error", () => {});
      },
    );
    sent.on("timeout", () => sent.destroy(new Error(`No answer to ${show(drawn)}`)));
    sent.on("error", (error) => reject(new Error(`${show(drawn)}: ${error.message}`, { cause: error })));
    sent.end(body ?? undefined);
  });
}

/** What was asked for has ended; one that comes now is done, and an instance that was told to drain comes back. */
async function stillWorks({ url }: Server): Promise<void> {
  const client = createClient(url, { token: TOKEN });
  for (const { instanceId } of (await client.listInstances()).instances)
    await client.callInstanceBack(instanceId);
  const { taskRunId } = await client.createTask({ kind: "echo", queue: "afterwards", input: "still here" });
  const isDone = async (): Promise<boolean> => (await client.getTaskRun(taskRunId)).status === "DONE";
  await until("the last one is done", isDone, { withinMs: WITHIN_MS });
}

function requireQuietLog(stderr: string, secrets: readonly string[]): void {
  const lines = stderr.trimEnd().split("\n");
  const loud = lines.filter((line) => (JSON.parse(line) as { readonly level: unknown }).level === "error");
  const told = lines.filter((line) => secrets.some((secret) => line.includes(secret)));
  if (loud.length + told.length === 0) return;
  throw new Error(`The log has what it should not:\n${[...loud, ...told].slice(0, 10).join("\n")}`);
}

/** None where the server lets everybody in. */
function passwordIn(url: string): readonly string[] {
  const { password } = new URL(url);
  return password === "" ? [] : [decodeURIComponent(password)];
}

/** Ids that are there lead further than any that are made up. */
function learn(known: string[], text: string): void {
  const [id] = text.match(ID) ?? [];
  if (id === undefined || known.includes(id)) return;
  known.push(id);
  if (known.length > IDS_KEPT) known.splice(4, 1);
}

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`;
}

function count(counted: Record<string, number>, name: string): void {
  counted[name] = (counted[name] ?? 0) + 1;
}

function show({ method, path, headers, body }: DrawnRequest): string {
  return `${method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 500)} ${String(body).slice(0, 500)}`;
}
