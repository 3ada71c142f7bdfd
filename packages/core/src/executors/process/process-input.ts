/** What a task may ask of a process, checked before it is enqueued and again before it is started. */

import { SchedulerError } from "../../domain/errors.ts";

/** Which program a task runs, and with what. */
export interface ProcessInput {
  /** The program and its arguments, as they are: nothing in them is expanded. */
  readonly argv?: readonly string[];
  /** Instead of `argv`: a text for `/bin/sh -c`, where the definition allows it. Never build it from data; use `env` or `input`. */
  readonly shell?: string;
  /** Below the definition's `root`. Default: the root itself. */
  readonly cwd?: string;
  /** Added to the definition's environment. Names that change how programs are loaded are refused. */
  readonly env?: Readonly<Record<string, string>>;
  /** Any JSON, found by the process in the file `SIGNALBOX_INPUT_FILE`. */
  readonly input?: unknown;
  /** What it reads from standard input. Default: nothing. */
  readonly stdin?: string;
  /** From TERM to KILL. Default: the definition's. */
  readonly graceMs?: number;
}

export interface CheckedProcess {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: unknown;
  readonly stdin: string | null;
  readonly graceMs: number;
}

/** The longest single argument that Linux takes. */
const MAX_ARGUMENT_BYTES = 131_071;
const MAX_ARGUMENTS = 1_000;
const MAX_GRACE_MS = 3_600_000;
const SHELL = "/bin/sh";

const FIELDS = ["argv", "shell", "cwd", "env", "input", "stdin", "graceMs"];
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** With these a text in the environment becomes code in the process, or leads it to another program. */
const REFUSED_ENV =
  /^(?:(?:LD|DYLD|GIT|BASH_FUNC|MALLOC|SIGNALBOX)_.*|(?:NODE|PERL|PERL5|RUBY|PYTHON|JAVA_TOOL|JDK_JAVA|_JAVA|JVM)_?(?:OPTIONS|OPTS?|LIB|PATH|HOME|STARTUP|INSPECT|BREAKPOINT|EXTRA_CA_CERTS)|PERL5DB|PATH|ENV|BASH_ENV|BASHOPTS|SHELLOPTS|SHELL|IFS|CDPATH|PS4|PROMPT_COMMAND|GLIBC_TUNABLES|GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES|RES_OPTIONS|CLASSPATH|EDITOR|VISUAL|PAGER|BROWSER|LESSOPEN|LESSCLOSE|TERMINFO)$/i;

export function checkProcessInput(
  kind: string,
  given: unknown,
  { allowShell, graceMs }: { readonly allowShell: boolean; readonly graceMs: number },
): CheckedProcess {
  const refuse: Refuse = (at, problem) => {
    throw new SchedulerError("INVALID_INPUT", { kind, at, problem });
  };
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return refuse("", "is not an object with argv");
  const input = given as ProcessInput;
  for (const field of Object.keys(given)) {
    if (!FIELDS.includes(field)) refuse(field, `is not known (known: ${FIELDS.join(", ")})`);
  }
  return {
    argv: checkArgv(input, allowShell, refuse),
    cwd: input.cwd === undefined ? "." : checkText("cwd", input.cwd, refuse),
    env: checkEnv(input.env, refuse),
    input: input.input ?? null,
    stdin: input.stdin === undefined ? null : checkText("stdin", input.stdin, refuse),
    graceMs: checkGrace(input.graceMs ?? graceMs, refuse),
  };
}

type Refuse = (at: string, problem: string) => never;

function checkArgv({ argv, shell }: ProcessInput, allowShell: boolean, refuse: Refuse): readonly string[] {
  if ((argv === undefined) === (shell === undefined)) refuse("argv", "give either argv or shell");
  if (argv === undefined) {
    if (!allowShell) refuse("shell", "is not allowed here; give argv, or allow it in defineProcess");
    return [SHELL, "-c", checkArgument("shell", shell, refuse)];
  }
  if (!Array.isArray(argv) || argv.length === 0) refuse("argv", "is not a list that begins with a program");
  if (argv.length > MAX_ARGUMENTS)
    refuse("argv", `has ${argv.length} parts, at most ${MAX_ARGUMENTS} are taken`);
  const checked = argv.map((argument: unknown, index) => checkArgument(`argv[${index}]`, argument, refuse));
  if (checked[0] === "") refuse("argv[0]", "is empty");
  return checked;
}

function checkArgument(at: string, value: unknown, refuse: Refuse): string {
  const text = checkText(at, value, refuse);
  if (Buffer.byteLength(text) > MAX_ARGUMENT_BYTES)
    refuse(at, `is longer than the ${MAX_ARGUMENT_BYTES} bytes that a process can be given; use input`);
  return text;
}

export function checkText(at: string, value: unknown, refuse: Refuse): string {
  if (typeof value !== "string") return refuse(at, "is not a text");
  if (value.includes("\u0000")) refuse(at, "contains a NUL character");
  return value;
}

function checkEnv(env: unknown, refuse: Refuse): Readonly<Record<string, string>> {
  if (env === undefined) return {};
  if (typeof env !== "object" || env === null || Array.isArray(env)) return refuse("env", "is not an object");
  const checked: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (!ENV_NAME.test(name))
      refuse("env", `has ${JSON.stringify(name)}, which is not a name for a variable`);
    if (REFUSED_ENV.test(name))
      refuse(`env.${name}`, "is not taken from a task; set it in defineProcess if you need it");
    checked[name] = checkArgument(`env.${name}`, value, refuse);
  }
  return checked;
}

export function checkGrace(graceMs: unknown, refuse: Refuse): number {
  if (typeof graceMs === "number" && graceMs >= 0 && graceMs <= MAX_GRACE_MS) return graceMs;
  return refuse("graceMs", `is not between 0 and ${MAX_GRACE_MS} milliseconds`);
}
