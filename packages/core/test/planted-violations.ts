/**
 * Violations of each property, as SQL on the history that `check.db.test.ts` makes: `<name>` stands for the id of
 * what is called so there.
 */

export const set = (name: string, change: string): string =>
  `UPDATE signalbox.task_run SET ${change} WHERE id = <${name}>`;
export const stamp = (name: string, column: string): string =>
  `(SELECT ${column} FROM signalbox.task_run AS s WHERE s.id = <${name}>)`;
export const event = (id: string, type: string, data: string, at = "clock_timestamp()"): string =>
  `INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data, at)
   VALUES ('${type.split(".")[0]}', ${id}, 99, '${type}', ${data}, ${at})`;
export const US = "interval '1 microsecond'";

/** What it is, and the statements that make it so. */
type Plant = readonly [string, readonly string[]];
export const PLANTED: Readonly<Record<string, readonly Plant[]>> = {
  S1: [
    [
      "an irregular move that no one may make",
      [event("<x1>", "task_run.moved", `'{"from": "PENDING", "to": "RUNNING"}'`)],
    ],
    [
      "a gated task run that is DONE and was never promoted",
      [set("due", "available_at = NULL, gated = true")],
    ],
    ["stamps that do not rise", [set("t1", "claimed_at = enqueued_at - interval '1 s'")]],
    [
      "an end before the claim",
      [set("due", "finished_at = claimed_at - interval '1 s', available_at = enqueued_at")],
    ],
    ["DONE without a claim", [set("t1", "claim_no = NULL")]],
    ["FAILED before it was claimed, and not by a queue timeout", [set("f1", "claimed_by = NULL")]],
    [
      "a queue timeout of one that ran",
      [event("<x1>", "task_run.queue_timed_out", `'{"from": "RUNNING", "to": "DONE"}'`)],
    ],
  ],
  S3: [
    ["a gap between the attempts", [set("f2", "attempt = 3")]],
    ["a task that went on although an attempt was DONE", [set("f1", "status = 'DONE'")]],
    [
      "a next attempt from before the end of the last",
      [set("f2", `enqueued_at = ${stamp("f1", "finished_at")} - ${US}`)],
    ],
    ["a claim number with two owners", [set("t1", "claimed_by = gen_random_uuid()")]],
    [
      "a claim number that did not rise after a hand-back",
      [
        set(
          "h1",
          "claim_no = (SELECT (data->>'claimNo')::bigint FROM signalbox.event_store WHERE aggregate_id = <h1>)",
        ),
      ],
    ],
  ],
  S5: [
    ["RUNNING that no batch knows", ["DELETE FROM signalbox.claim_batch"]],
    [
      "RUNNING that was let go without an outside job",
      [set("running", "claimed_by = NULL, let_go_at = now()"), "DELETE FROM signalbox.claim_batch"],
    ],
    [
      "RUNNING that was let go and that nobody will ask after",
      [
        set("running", "claimed_by = NULL, let_go_at = now()"),
        "DELETE FROM signalbox.claim_batch",
        `INSERT INTO signalbox.outside_job (task_run_id, kind, handle, next_poll_at, deadline)
         VALUES (<running>, 'echo', '1', 'infinity', 'infinity')`,
      ],
    ],
    [
      "RUNNING of an owner that is gone",
      [`DELETE FROM signalbox.instance WHERE boot_id = ${stamp("running", "claimed_by")}`],
    ],
    [
      "RUNNING of an owner that has been dead for long",
      [
        `UPDATE signalbox.instance SET state = 'DEAD', expires_at = now() - interval '1 hour'
          WHERE boot_id = ${stamp("running", "claimed_by")}`,
      ],
    ],
  ],
  S6: [
    ["two that had one resource alone", [set("x1", `finished_at = ${stamp("x2", "available_at")} + ${US}`)]],
    [
      "one that had it alone while another shared it",
      [set("y2", `available_at = ${stamp("y1", "finished_at")} - ${US}`)],
    ],
    [
      "one that began during a stay that a hand-back ended",
      [
        set(
          "h2",
          `available_at = (SELECT at FROM signalbox.event_store WHERE aggregate_id = <h1>) - ${US},
           finished_at = (SELECT at FROM signalbox.event_store WHERE aggregate_id = <h1>)`,
        ),
        set("h2", "enqueued_at = available_at, claimed_at = available_at"),
      ],
    ],
    ...["LEASE_LOST", "WARDEN_LOST", "END_LOST", "HANDLER_STUCK"].map(
      (outcome): Plant => [
        `one that used what was kept for a task after ${outcome}`,
        [
          set("l1", `outcome = '${outcome}'`),
          set("other", `enqueued_at = ${stamp("l1", "finished_at")} + ${US}`),
          set(
            "other",
            `available_at = enqueued_at, claimed_at = enqueued_at, finished_at = enqueued_at + ${US}`,
          ),
        ],
      ],
    ),
  ],
  S7: [
    ["more at once than the limit", ["UPDATE signalbox.run SET task_limit = 1 WHERE id = <endedRun>"]],
    [
      "more at once than the limit that was in force then",
      [
        "UPDATE signalbox.run SET task_limit = 0 WHERE id = <endedRun>",
        event("<endedRun>", "run.limit_changed", `'{"from": 1, "to": 0}'`),
      ],
    ],
    [
      "one more during a stay that a hand-back ended",
      [
        set("h2", "run_id = <backRun>"),
        `UPDATE signalbox.task SET resources = '[]', gated = true, run_id = <backRun> WHERE id = ${stamp("h2", "task_id")}`,
        set("h2", `available_at = (SELECT at FROM signalbox.event_store WHERE aggregate_id = <h1>) - ${US}`),
        set("h2", "enqueued_at = available_at"),
      ],
    ],
  ],
  S8: [
    [
      "a version that started while a smaller one was open",
      [set("v2", `available_at = ${stamp("v1", "finished_at")} - ${US}`)],
    ],
    [
      "a version that started long after a smaller one had come",
      [
        set("w1", "finished_at = now() + interval '1 hour'"),
        set("w2", "available_at = now() + interval '1 min', finished_at = now() + interval '3 min'"),
        set("w2", "claimed_at = now() + interval '2 min'"),
      ],
    ],
  ],
  S9: [["one that started before its run time", [set("due", `run_at = available_at + ${US}`)]]],
  S21: [
    ["PENDING that does not wait", ["DELETE FROM signalbox.waiting WHERE task_run_id = <later>"]],
    [
      "waiting that is not PENDING",
      [
        `INSERT INTO signalbox.waiting (task_run_id, task_id, kind, priority, enqueued_at, resources)
         SELECT id, task_id, kind, priority, enqueued_at, '[]' FROM signalbox.task_run WHERE id = <t1>`,
      ],
    ],
    ["AVAILABLE that nobody can claim", ["DELETE FROM signalbox.ready WHERE task_run_id = <available>"]],
    ["ready that is not AVAILABLE", ["INSERT INTO signalbox.ready VALUES ('echo', 5, <t1>)"]],
    [
      "an outside job of one that has ended",
      [
        `INSERT INTO signalbox.outside_job (task_run_id, kind, handle, next_poll_at, deadline)
         VALUES (<t1>, 'echo', '1', now(), now())`,
      ],
    ],
    [
      "a queue timeout without a deadline",
      [
        `UPDATE signalbox.task SET policy = policy || '{"timeouts": {"queuedMs": 1}}'
          WHERE id = ${stamp("later", "task_id")}`,
      ],
    ],
    ["a task run without a task", [`DELETE FROM signalbox.task WHERE id = ${stamp("t1", "task_id")}`]],
    [
      "an active task run without its slot in the run",
      ["DELETE FROM signalbox.hold WHERE task_run_id = <running> AND scope LIKE 'run:%'"],
    ],
    [
      "an active task run that has alone what it should share",
      ["UPDATE signalbox.hold SET slot = 0 WHERE task_run_id = <running> AND scope = 'resource:also'"],
    ],
    [
      "a hold of one that has ended",
      ["INSERT INTO signalbox.hold (scope, slot, task_run_id) VALUES ('run:x', 0, <t1>)"],
    ],
    [
      "a hold that is kept for a task without an open attempt",
      [
        `INSERT INTO signalbox.hold (scope, slot, reserved_for) VALUES ('resource:x', 0, ${stamp("x1", "task_id")})`,
        "UPDATE signalbox.resource_use SET exclusive = 1 WHERE name = 'x'",
      ],
    ],
    [
      "a count of uses that is not that of the holds",
      ["UPDATE signalbox.resource_use SET shared = 2 WHERE name = 'also'"],
    ],
    ["a count of uses without holds", ["INSERT INTO signalbox.resource_use VALUES ('nobody', 0, 1)"]],
    ["holds without a count of uses", ["DELETE FROM signalbox.resource_use WHERE name = 'open'"]],
    [
      "a version of one that has ended, still open",
      ["INSERT INTO signalbox.open_version VALUES ('v', '{1}', <v1>)"],
    ],
    ["an open task whose version is not", ["DELETE FROM signalbox.open_version WHERE task_run_id = <busy>"]],
    ["one at RESOURCE_BUSY in no line", ["DELETE FROM signalbox.line WHERE task_run_id = <busy>"]],
    [
      "one at another gate in a line",
      [
        `INSERT INTO signalbox.line (name, priority, enqueued_at, task_run_id, mode)
         VALUES ('open', 5, now(), <limited>, 'shared')`,
      ],
    ],
  ],
  S25: [
    [
      "a run that ended without an event",
      ["DELETE FROM signalbox.event_store WHERE aggregate_id = <endedRun>"],
    ],
    [
      "a run that ended twice",
      [
        `INSERT INTO signalbox.event_store (aggregate_type, aggregate_id, aggregate_version, type, data)
         VALUES ('run', <endedRun>, 98, 'run.ended', '{}')`,
      ],
    ],
    [
      "a run that goes on although its tasks have ended",
      [
        "UPDATE signalbox.run SET status = 'RUNNING', finished_at = NULL, open_tasks = 1 WHERE id = <endedRun>",
        "DELETE FROM signalbox.event_store WHERE aggregate_id = <endedRun> AND type = 'run.ended'",
      ],
    ],
    [
      "a run that counts more open tasks than it has",
      ["UPDATE signalbox.run SET open_tasks = 5 WHERE id = <openRun>"],
    ],
  ],
};
