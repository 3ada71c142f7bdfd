/** A PgBouncer in transaction mode before a database, where the system has one. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, mkdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { choosePort } from "../../packages/server/src/postgres/choose-port.ts";
import { chooseServerUser, spawnIdentity } from "../../packages/server/src/postgres/server-user.ts";
import { until } from "../ha/until.ts";

export interface PgBouncer {
  /** The same database, through the pooler. */
  urlOf(databaseUrl: string): string;
  /** Killed, and started again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const PLACES = [
  "/usr/sbin/pgbouncer",
  "/usr/bin/pgbouncer",
  "/usr/local/bin/pgbouncer",
  "/opt/homebrew/bin/pgbouncer",
];

export function findPgBouncer(): string | null {
  return PLACES.find((path) => existsSync(path)) ?? null;
}

export async function startPgBouncer(program: string, serverUrl: string, dir: string): Promise<PgBouncer> {
  const { hostname, port: serverPort, username, password } = new URL(serverUrl);
  const port = await choosePort([]);
  const place = join(dir, "pgbouncer");
  const user = await chooseServerUser(place);
  await mkdir(place, { mode: 0o755 });
  await writeFile(join(place, "users.txt"), `"${username}" "${decodeURIComponent(password)}"\n`);
  await writeFile(
    join(place, "pgbouncer.ini"),
    [
      "[databases]",
      `* = host=${hostname} port=${serverPort}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = plain",
      `auth_file = ${join(place, "users.txt")}`,
      "pool_mode = transaction",
      "default_pool_size = 12",
      "max_client_conn = 200",
      // By default it refuses everybody for 15 s after one refused login: longer than anybody may wait to be rescued.
      "server_login_retry = 1",
      `logfile = ${join(place, "log")}`,
      "",
    ].join("\n"),
  );
  if (user.lent) await chown(place, user.uid, user.gid);
  await chmod(join(place, "users.txt"), 0o644);
  let child = await start(program, place, port, spawnIdentity(user));
  return {
    urlOf: (databaseUrl) => {
      const url = new URL(databaseUrl);
      url.hostname = "127.0.0.1";
      url.port = String(port);
      return url.href;
    },
    restart: async () => {
      await end(child);
      child = await start(program, place, port, spawnIdentity(user));
    },
    stop: async () => await end(child),
  };
}

async function start(
  program: string,
  place: string,
  port: number,
  identity: { readonly uid?: number; readonly gid?: number },
): Promise<ChildProcess> {
  const child = spawn(program, [join(place, "pgbouncer.ini")], { ...identity, cwd: "/", stdio: "ignore" });
  const onExit = (): void => void child.kill("SIGKILL");
  process.once("exit", onExit);
  child.once("exit", () => process.off("exit", onExit));
  await until("PgBouncer listens", async () => await listens(port), { withinMs: 20_000 });
  return child;
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const heard = await Promise.race([
    once(socket, "connect").then(() => true),
    once(socket, "error").then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return heard;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
