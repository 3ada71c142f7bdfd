/**
 * Tasks that come one after the other are mostly alike: only their inputs differ. What they have in common is their form.
 * It is written, sent and read once for all of them, and their inputs as one list of JSON.
 */

import { isGated, type ResolvedTask } from "../../domain/task-spec.ts";
import { arrayText } from "../array-text.ts";

/** All but the input. */
type FormOfTask = Omit<ResolvedTask, "inputJson">;

export interface Form {
  /** What all of them are like. */
  readonly task: FormOfTask;
  /** How many tasks come before the first of them. */
  readonly before: number;
  /** JSON texts, in the given order. */
  readonly inputs: string[];
}

/** In the given order: a form ends where the next task looks different. */
export function formsOf(tasks: readonly ResolvedTask[]): readonly Form[] {
  const forms: Form[] = [];
  let form: Form | null = null;
  for (const [before, task] of tasks.entries()) {
    if (form === null || !areAlike(form.task, task)) {
      form = { task, before, inputs: [] };
      forms.push(form);
    }
    form.inputs.push(task.inputJson);
  }
  return forms;
}

// As a record, so that a new field that is not compared does not compile.
const COMPARED: Readonly<Record<keyof FormOfTask, true>> = {
  kind: true,
  title: true,
  priority: true,
  queue: true,
  policy: true,
  tags: true,
  resources: true,
  stops: true,
  runAt: true,
  version: true,
  concurrencyKey: true,
  rate: true,
  outOfOrder: true,
};
const FIELDS = Object.keys(COMPARED) as readonly (keyof FormOfTask)[];

function areAlike(a: FormOfTask, b: FormOfTask): boolean {
  for (const field of FIELDS) if (!isSame(a[field], b[field])) return false;
  return true;
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  const areObjects = typeof a === "object" && typeof b === "object";
  return areObjects && JSON.stringify(a) === JSON.stringify(b);
}

/** What an insert is given: a list of each, with an element for every form. Null: it has none. */
export function columnsOf(
  forms: readonly Form[],
  { queues, inRun }: { readonly queues: readonly string[]; readonly inRun: boolean },
) {
  const queueNos = new Map(queues.map((queue, index) => [queue, index + 1]));
  const of = <Value>(read: (task: FormOfTask) => Value): readonly Value[] =>
    forms.map(({ task }) => read(task));
  return {
    kind: of(({ kind }) => kind),
    title: of(({ title }) => title),
    inputs: forms.map(({ inputs }) => `[${inputs.join(",")}]`),
    before: forms.map(({ before }) => before),
    priority: of(({ priority }) => priority),
    runAt: of(({ runAt }) => runAt),
    version: of(({ version }) => version),
    resources: of(({ resources }) => (resources.length === 0 ? null : JSON.stringify(resources))),
    policy: of(({ policy }) => JSON.stringify(policy)),
    gated: of((task) => isGated(task, inRun)),
    queue: of(({ queue }) => queue),
    concurrencyKey: of(({ concurrencyKey }) => concurrencyKey),
    rate: of(({ rate }) => rate),
    tags: of(({ tags }) => (tags.length === 0 ? null : arrayText(tags))),
    stops: of(({ stops }) => (stops.length === 0 ? null : JSON.stringify(stops))),
    outOfOrder: of(({ outOfOrder }) => outOfOrder),
    queueNo: of(({ queue }) => queueNos.get(queue) ?? 0),
  };
}
