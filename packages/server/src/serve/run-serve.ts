/** `signalbox serve`: one instance and the API on a database that is there, until it is told to leave. */

import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Scheduler, SchedulerEvent } from "@signalbox/core";
import type { FastifyInstance } from "fastify";
import { type Logger, pino } from "pino";
import { EXIT, type ExitCode } from "../cli/exit-code.ts";
import type { Output } from "../cli/output.ts";
import { createApi } from "../http/create-api.ts";
import { type Listening, listenAt } from "../http/listen.ts";
import { logEvents } from "../telemetry/log-events.ts";
import { createLogger } from "../telemetry/logger.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { VERSION } from "../version.ts";
import { listenForLeave } from "./leave-signals.ts";
import { loadTasks } from "./load-tasks.ts";
import { type LoopWatch, watchLoops } from "./loop-watch.ts";
import { openSchedulers, type Schedulers } from "./open-schedulers.ts";
import { judgeReadiness } from "./readiness.ts";
import { schemaProblem } from "./schema-problem.ts";
import type { ServeSettings } from "./serve-settings.ts";
import { textLog } from "./text-log.ts";

interface Station extends Schedulers {
  readonly settings: ServeSettings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly loops: LoopWatch;
  readonly kinds: readonly string[];
  leaving: boolean;
}

/** Answers when everything has ended: 0 after a signal, 7 where the schema is not the one of this version. */
export async function runServe(settings: ServeSettings, output: Output): Promise<ExitCode> {
  const signals = listenForLeave((exitCode) => process.exit(exitCode));
  const station = await openStation(settings);
  const api = apiOf(station);
  try {
    const problem = await prepareSchema(station);
    if (problem !== null) {
      output.note(problem);
      return EXIT.refused;
    }
    tellServing(station, await listenAt(api, settings));
    await station.instance.start();
    station.logger.info({ signal: await signals.first, drainMs: settings.drainMs }, "draining");
    return EXIT.ok;
  } finally {
    await leave(station, api);
    signals.dispose();
    endSoon();
  }
}

async function openStation(settings: ServeSettings): Promise<Station> {
  const logger = openLog(settings);
  const tasks = settings.tasksFile === null ? [] : await loadTasks(settings.tasksFile);
  const metrics = createMetrics();
  const loops = watchLoops(performance.now());
  const log = logEvents(logger);
  const onEvent = (event: SchedulerEvent): void => {
    log(event);
    metrics.record(event);
    loops.tell(event, performance.now());
  };
  const schedulers = openSchedulers(settings, tasks, onEvent);
  metrics.watch({ health: schedulers.instance.health, overview: schedulers.control.overview });
  const kinds = tasks.map(({ kind }) => kind);
  return { ...schedulers, settings, logger, metrics, loops, kinds, leaving: false };
}

function openLog({ logLevel, logFormat }: ServeSettings): Logger {
  // Written at once: the last lines before an end are the ones that are looked for.
  const destination = pino.destination({ dest: 2, sync: true });
  return createLogger({
    level: logLevel,
    destination: logFormat === "json" ? destination : textLog((line) => destination.write(line)),
  });
}

function apiOf(station: Station): FastifyInstance {
  const { control, logger, metrics, settings } = station;
  return createApi({
    scheduler: control,
    serverId: randomUUID(),
    logger,
    metrics,
    readiness: () =>
      judgeReadiness({
        health: station.instance.health(),
        loops: station.loops.states(performance.now()),
        leaving: station.leaving,
      }),
    token: settings.token,
    basePath: settings.basePath,
    withDashboard: true,
    ...(settings.trustedProxies === null ? {} : { trustedProxies: settings.trustedProxies }),
    about: { mode: "serve", environmentName: settings.environmentName },
  });
}

/** Null: the schema is the one of this version. */
async function prepareSchema({ control, settings, logger }: Station): Promise<string | null> {
  if (settings.migrate) {
    const { applied } = await control.migrate();
    if (applied.length > 0) logger.info({ applied }, "schema migrated");
  }
  return schemaProblem(await control.migrations());
}

function tellServing({ settings, logger, kinds }: Station, { url }: Listening): void {
  logger.info(
    { url: `${url}${settings.basePath}`, version: VERSION, environment: settings.environmentName, kinds },
    "serving",
  );
  if (!/^(?:127\.|localhost$|::1$)/.test(settings.host)) {
    logger.warn(
      { host: settings.host },
      "others can reach this address by plain http: put a proxy with TLS before it",
    );
  }
}

/** Both at once: nothing more is claimed while requests end, and requests are answered while work ends. */
async function leave(station: Station, api: FastifyInstance): Promise<void> {
  const { instance, control, logger, settings } = station;
  station.leaving = true;
  await Promise.all([closeApi(api, settings.drainMs), stopped(instance, logger)]);
  await stopped(control, logger);
  logger.info("left");
}

async function closeApi(api: FastifyInstance, patienceMs: number): Promise<void> {
  const closed = api.close().then(() => "closed" as const);
  const late = wait(patienceMs, "late" as const, { ref: false });
  if ((await Promise.race([closed, late])) === "late") api.server.closeAllConnections();
  await closed;
}

async function stopped(scheduler: Scheduler, logger: Logger): Promise<void> {
  try {
    await scheduler.stop();
  } catch (error) {
    logger.error({ error }, "could not leave in order");
  }
}

const END_WITHIN_MS = 1_000;

/** A module of tasks may have left something open that would keep the process. */
function endSoon(): void {
  setTimeout(() => process.exit(), END_WITHIN_MS).unref();
}
