/**
 * Starts everything a `dev` consists of, in order, and says each fact as it becomes known: the database,
 * the schema, the API and the instances. The parent claims nothing: its scheduler is never started.
 */

import { randomUUID } from "node:crypto";
import { createScheduler, type Scheduler, SchedulerError } from "@signalbox/core";
import { pino } from "pino";
import type { Output } from "../cli/output.ts";
import { DEMO_TASKS } from "../demo/tasks.ts";
import { createApi } from "../http/create-api.ts";
import { isDashboardBuilt } from "../http/dashboard.ts";
import { listenOnLoopback } from "../http/listen.ts";
import { explainNotPermitted } from "../postgres/launch-error.ts";
import { makePlace } from "../postgres/make-place.ts";
import { lengthText } from "../render/time.ts";
import { createLogger } from "../telemetry/logger.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { apiText, dashboardText, factLine, type Places, schemaText, titleLine } from "./banner.ts";
import { type Crew, createCrew } from "./crew.ts";
import { DatabaseProblemError } from "./database-problem.ts";
import type { DevSettings } from "./dev-settings.ts";
import type { EventLog } from "./event-log.ts";
import { DEV_LEASE_MS } from "./instance-messages.ts";
import type { Leaving } from "./leaving.ts";
import type { Narrator } from "./narrator.ts";
import { type DevDatabase, openDatabase } from "./open-database.ts";
import { otherDevs, type RegisteredDev, type Registration, registerDev } from "./registry.ts";

export interface Station {
  readonly registration: Registration;
  readonly scheduler: Scheduler;
  readonly crew: Crew;
  /** Where the dashboard and the API are, for people. */
  readonly places: Places;
}

export interface StationDeps {
  readonly settings: DevSettings;
  readonly output: Output;
  readonly eventLog: EventLog;
  readonly narrator: Narrator;
  readonly leaving: Leaving;
  readonly signal: AbortSignal;
}

const LEAVE_PATIENCE_MS = 10_000;

export async function openStation(deps: StationDeps): Promise<Station> {
  const { settings, output, leaving, signal } = deps;
  const say = (label: string, text: string): void => output.data(factLine(label, text, output.look));
  output.data(titleLine(output.look));
  output.data("");

  // Before the database is touched: whoever leaves meanwhile must see that it is needed.
  const registration = await register(deps);
  const database = await openDatabase(settings);
  leaving.add(() => closeDatabase(deps, registration, database));
  say("Database", database.description);
  signal.throwIfAborted();

  const scheduler = createControl(settings, database);
  leaving.add(() => scheduler.stop());
  say("Schema", await bringUpToDate(settings, scheduler));
  signal.throwIfAborted();

  // Before the instances, so that it ends after them: as long as it answers, others know that we are here.
  const metrics = createMetrics();
  metrics.watch({ overview: scheduler.overview });
  const places = await serveApi(deps, scheduler, registration, metrics);
  const crew = await startCrew(deps, scheduler, database, metrics);
  return { registration, scheduler, crew, places };
}

async function bringUpToDate({ databaseUrl }: DevSettings, scheduler: Scheduler): Promise<string> {
  const startedAt = performance.now();
  try {
    const { applied } = await scheduler.migrate();
    return schemaText(applied, performance.now() - startedAt);
  } catch (cause) {
    if (databaseUrl !== null || !isOfAnotherVersion(cause)) throw cause;
    // Data of another version: private data may be thrown away, and it is only a demo's.
    throw new DatabaseProblemError(`${cause.message}. To throw the data away: npx signalbox dev --reset`, {
      cause,
    });
  }
}

function isOfAnotherVersion(error: unknown): error is SchedulerError {
  return (
    error instanceof SchedulerError &&
    ["DATABASE_TOO_OLD", "SCHEMA_TOO_NEW", "MIGRATION_CHANGED"].includes(error.code)
  );
}

async function register({ settings, output, leaving }: StationDeps): Promise<Registration> {
  const dev: RegisteredDev = {
    pid: process.pid,
    serverId: randomUUID(),
    startedAt: new Date().toISOString(),
    url: null,
    demo: settings.demo && !settings.once,
    privateDatabase: settings.databaseUrl === null,
  };
  try {
    await makePlace(settings.dir);
    const registration = await registerDev(settings.dir, dev);
    leaving.add(registration.remove);
    return registration;
  } catch (cause) {
    if (settings.databaseUrl === null) throw explainNotPermitted(cause, settings.dir);
    // With a database elsewhere this folder need not be writable; only nobody will find us there.
    output.note(`${settings.dir} cannot be written: other terminals need --server with the address below.`);
    return { dev, announce: async () => {}, remove: async () => {} };
  }
}

/** The last one to leave stops the private PostgreSQL, whoever started it. */
async function closeDatabase(
  { settings, eventLog }: StationDeps,
  registration: Registration,
  database: DevDatabase,
): Promise<void> {
  // First: two that leave at once must not both think that the other one stays.
  await registration.remove();
  const others = await otherDevs(settings.dir, registration.dev);
  const user = others.find(({ privateDatabase }) => privateDatabase);
  if (user === undefined) await database.stop();
  const rest =
    user === undefined ? "nothing is left running" : `PostgreSQL stays: process ${user.pid} uses it`;
  eventLog.log({ who: "dev", verb: "stopped", text: settings.databaseUrl === null ? rest : "" });
}

function createControl(settings: DevSettings, database: DevDatabase): Scheduler {
  return createScheduler({
    name: "dev",
    databaseUrl: database.url,
    ...(settings.directUrl === null ? {} : { directUrl: settings.directUrl }),
    // Not to run them, but to check their input where it is enqueued.
    tasks: DEMO_TASKS,
    poolSize: 5,
  });
}

async function startCrew(
  { settings, output, eventLog, narrator, leaving }: StationDeps,
  scheduler: Scheduler,
  database: DevDatabase,
  metrics: Metrics,
): Promise<Crew> {
  const { instances } = await scheduler.overview();
  const takenNames = new Set(instances.filter(({ state }) => state !== "DEAD").map(({ name }) => name));
  const crew = createCrew({
    databaseUrl: database.url,
    directUrl: settings.directUrl,
    takenNames,
    onEvent: (name, event) => {
      narrator.tell(name, event);
      metrics.record(event);
    },
    onCrash: (who, why) => eventLog.log({ who, verb: "crashed", text: why, tone: "bad" }),
  });
  leaving.add(() => crew.leave(LEAVE_PATIENCE_MS));
  const started = Array.from({ length: settings.instances }, () => crew.add());
  await Promise.all(started.map(({ joined }) => joined));
  const names = started.map(({ name }) => name).join("  ");
  output.data(factLine("Instances", `${names || "none"}  (lease ${lengthText(DEV_LEASE_MS)})`, output.look));
  return crew;
}

async function serveApi(
  { settings, leaving }: StationDeps,
  scheduler: Scheduler,
  registration: Registration,
  metrics: Metrics,
): Promise<Places> {
  const logger = createLogger({ level: "error", destination: pino.destination({ dest: 2, sync: true }) });
  const { serverId } = registration.dev;
  const api = createApi({ scheduler, serverId, logger, metrics, withDashboard: true });
  leaving.add(() => api.close());
  const { url, port } = await listenOnLoopback(api, settings.port);
  await registration.announce(url);
  return {
    dashboard: dashboardText(isDashboardBuilt() ? url : null),
    api: apiText(url, settings.port, port),
  };
}
