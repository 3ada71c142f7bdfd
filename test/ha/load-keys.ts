/** S15 from the client's side: whatever was answered and however often it was asked, a key stands for one enqueue. Pure. */

/** What the client was answered, by key, one entry per answer. */
export type KeyAnswers = ReadonlyMap<string, readonly string[]>;

export interface KeyedTask {
  readonly key: string;
  readonly taskRunId: string;
}

/**
 * `there` are the first task runs of all tasks that were enqueued under a key. What a failover has lost may be enqueued
 * once more, and then it is another one.
 */
export function findBrokenKeys(
  answers: KeyAnswers,
  there: readonly KeyedTask[],
  mayBeLost: ReadonlySet<string>,
): readonly string[] {
  const byKey = new Map<string, string[]>();
  for (const { key, taskRunId } of there) byKey.set(key, [...(byKey.get(key) ?? []), taskRunId]);
  const twice = [...byKey].flatMap(([key, ids]) =>
    ids.length > 1 ? [`S15: the key ${key} enqueued ${ids.length} tasks: ${ids.join(", ")}`] : [],
  );
  const wrong = [...answers].flatMap(([key, answered]) => {
    const kept = new Set(answered.filter((id) => !mayBeLost.has(id)));
    const known = byKey.get(key) ?? [];
    return [...kept].flatMap((id) =>
      known.includes(id) ? [] : [`S15: the key ${key} was answered with ${id}, which it did not enqueue`],
    );
  });
  return [...twice, ...wrong];
}
