/** What a function asks of a process, checked and copied before anything is started. */

import { SchedulerError } from "../../domain/errors.ts";
import { shownName } from "../../domain/json-value.ts";
import { requireMembers } from "../../domain/require-shape.ts";
import { callable, isGiven, listOf, number, objectOf, openObjectOf, text } from "../../domain/shape.ts";
import { checkGrace, checkText } from "./process-input.ts";
import type { ProcessSpec } from "./running-process.ts";

const SPEC = objectOf<ProcessSpec>(
  {
    argv: listOf(text, "a list of texts"),
    cwd: text,
    env: openObjectOf({}, []),
    stdinFile: text,
    graceMs: number,
    onOutput: callable,
  },
  ["argv", "cwd", "env", "graceMs", "onOutput"],
);

/** What the system can keep apart from its value; whoever gives it the environment of this process may have names of any other sort. */
const ENV_NAME = /^[^=\p{Cc}\p{Surrogate}]+$/u;

export function checkProcessSpec(given: ProcessSpec): ProcessSpec {
  requireMembers("INVALID_ARGUMENT", "spec", given, SPEC);
  const { stdinFile, onOutput } = given;
  const argv = [...given.argv].map((argument, at) => checkText(`argv[${at}]`, argument, refuseArgument));
  if ((argv[0] ?? "") === "") refuseArgument("argv", "is not a list that begins with a program");
  return {
    argv,
    cwd: checkText("cwd", given.cwd, refuseArgument),
    env: checkProcessEnv(given.env),
    ...(isGiven(stdinFile) ? { stdinFile: checkText("stdinFile", stdinFile, refuseArgument) } : {}),
    graceMs: checkGrace(given.graceMs, refuseArgument),
    onOutput,
  };
}

export function checkProcessEnv(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const env = { ...given };
  for (const [name, value] of Object.entries(env)) {
    if (!ENV_NAME.test(name))
      refuseArgument("env", `has ${JSON.stringify(shownName(name))}, which is not a name for a variable`);
    checkText(`env.${name}`, value, refuseArgument);
  }
  return env;
}

export function refuseArgument(at: string, problem: string): never {
  throw new SchedulerError("INVALID_ARGUMENT", { at, problem });
}
