import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { systemCode } from "./file-error.ts";
import { launchError } from "./launch-error.ts";
import { type ServerUser, spawnIdentity } from "./server-user.ts";

export interface ProgramEnd {
  /** `null` when a signal ended it, or the deadline did. */
  readonly exitCode: number | null;
  readonly output: string;
}

/** Runs a program of PostgreSQL to its end as the server's user. Rejects where it could not even be started. */
export async function runAs(
  user: ServerUser,
  program: string,
  args: readonly string[],
  deadlineMs: number,
): Promise<ProgramEnd> {
  try {
    // Our own folder may be closed to that user, and older programs insist on knowing where they are.
    const child = spawn(program, args, {
      ...spawnIdentity(user),
      cwd: "/",
      stdio: ["ignore", "pipe", "pipe"],
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), deadlineMs);
    const [output, errors, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]).finally(() => clearTimeout(timer));
    return { exitCode, output: output + errors };
  } catch (cause) {
    throw asLaunchError(cause, user);
  }
}

/** A root that is one only by name (a user namespace) may not become anybody else. */
export function asLaunchError(cause: unknown, user: ServerUser): unknown {
  const refused = user.lent && ["EPERM", "EINVAL"].includes(systemCode(cause));
  return refused ? launchError("CANNOT_SWITCH_USER", { user: user.name }, { cause }) : cause;
}
