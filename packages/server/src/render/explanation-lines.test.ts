import type { Blocker, Explanation, GateReport } from "@signalbox/contract";
import { describe, expect, test } from "vitest";
import { explanationLines } from "./explanation-lines.ts";
import { createLook, type Look } from "./look.ts";
import { waitingLines } from "./waiting-lines.ts";

const LOOK: Look = { ...createLook({ color: false, unicode: true }), timeZone: "UTC" };
const NOW = "2026-11-16T12:00:30.000Z";
const TASK_RUN = "019a8c3e-5d21-7abc-8def-000000000001";
const HOLDER: Blocker = {
  taskRunId: "019a8c3e-5d21-7abc-8def-000000000002",
  taskId: "019a8c3e-5d21-7abc-8def-000000000003",
  title: "add column",
  status: "RUNNING",
  instanceName: "inst-b",
  since: "2026-11-16T12:00:24.000Z",
};

const OPEN_GATES: readonly GateReport[] = [
  { code: "RUN_AT", state: "not_applicable", causes: [] },
  { code: "VERSION_ORDER", state: "passed", causes: [] },
  { code: "RUN_LIMIT", state: "not_applicable", causes: [] },
];

const BUSY: GateReport = {
  code: "RESOURCE_BUSY",
  state: "blocking",
  causes: [
    {
      cause: {
        code: "RESOURCE_BUSY",
        resource: "orders",
        mode: "exclusive",
        because: "held",
        blockers: [HOLDER.taskRunId],
        reservedFor: null,
      },
      blockers: [HOLDER],
      position: 2,
      lineLength: 3,
      earliestAt: null,
    },
  ],
};

describe("why a task run waits", () => {
  test("one sentence, then every gate with its blocker and the place in line", () => {
    const lines = explanationLines(explanation({ gates: [...OPEN_GATES, BUSY] }), LOOK);

    expect(lines).toEqual([
      "◷ pending  add index  (kind apply-migration, attempt 1)",
      'Waiting 18 s: "orders" is in use by another task, and it wants it alone.',
      "  none     Run time       no run time set",
      "  passed   Version order  no smaller version is open on its resources",
      "  none     Run limit      not part of a run",
      '  BLOCKED  Resource       "orders" is in use by another task, and it wants it alone',
      '                            "add column" 019a8c3e-5d21-7abc-8def-0000 (running on inst-b for 6.0 s)',
      "                            number 2 of 3 in line",
      `Started waiting 12:00:12. Task run ${TASK_RUN}, task 019a8c3e-5d21-7abc-8def-000000000009.`,
    ]);
  });

  test("a run time says when, and how long that is", () => {
    const gate: GateReport = {
      code: "RUN_AT",
      state: "blocking",
      causes: [
        {
          cause: { code: "RUN_AT", runAt: "2026-11-17T12:00:42.000Z" },
          blockers: [],
          position: null,
          lineLength: null,
          earliestAt: "2026-11-17T12:00:42.000Z",
        },
      ],
    };

    const [, verdict] = explanationLines(explanation({ gates: [gate] }), LOOK);

    expect(verdict).toBe("Waiting 18 s: it is scheduled for 2026-11-17 12:00:42 (in 1 d).");
  });

  test.each<[string, GateReport["causes"][number]["cause"], string]>([
    [
      "VERSION_ORDER",
      { code: "VERSION_ORDER", resource: "orders", version: "3", blocker: "x", blockerVersion: "1" },
      'version 1 comes before 3 on "orders"',
    ],
    [
      "RUN_LIMIT",
      { code: "RUN_LIMIT", runId: "r", limit: 2, active: 2 },
      "its run is at its parallel limit (2 of 2)",
    ],
    [
      "RESOURCE_BUSY",
      {
        code: "RESOURCE_BUSY",
        resource: "orders",
        mode: "shared",
        because: "reserved",
        blockers: [],
        reservedFor: "t",
      },
      '"orders" is kept for a task whose instance was lost',
    ],
    [
      "RESOURCE_BUSY",
      {
        code: "RESOURCE_BUSY",
        resource: "orders",
        mode: "shared",
        because: "line",
        blockers: [],
        reservedFor: null,
      },
      'others come first on "orders"',
    ],
  ])("%s says what is true: %o", (code, cause, sentence) => {
    const causes = [{ cause, blockers: [], position: null, lineLength: null, earliestAt: null }];
    const gates = [{ code: code as GateReport["code"], state: "blocking" as const, causes }];

    expect(explanationLines(explanation({ gates }), LOOK)[1]).toBe(`Waiting 18 s: ${sentence}.`);
  });

  test("more than one gate that holds it is said", () => {
    const limit: GateReport = {
      code: "RUN_LIMIT",
      state: "blocking",
      causes: [
        {
          cause: { code: "RUN_LIMIT", runId: "r", limit: 2, active: 2 },
          blockers: [],
          position: null,
          lineLength: null,
          earliestAt: null,
        },
      ],
    };

    expect(explanationLines(explanation({ gates: [limit, BUSY] }), LOOK)[1]).toMatch(
      /parallel limit \(2 of 2\), and 1 more gate holds it\.$/,
    );
  });

  test("nothing holds it any more", () => {
    expect(explanationLines(explanation({ gates: [...OPEN_GATES] }), LOOK)[1]).toMatch(
      /every gate is open now/,
    );
  });

  test("a title cannot move the cursor", () => {
    const lines = explanationLines(explanation({ title: "x\u001b[2Jy\nz", gates: [] }), LOOK);

    expect(lines[0]).toBe("◷ pending  x·[2Jy·z  (kind apply-migration, attempt 1)");
  });
});

describe("why a task run does not wait", () => {
  test("AVAILABLE: who could claim it", () => {
    const claimableBy = [
      { instanceId: "1", name: "inst-a", slots: 4, running: 4, freeSlots: 0 },
      { instanceId: "2", name: "inst-b", slots: 4, running: 1, freeSlots: 3 },
    ];
    const given = explanation({
      status: "AVAILABLE",
      claimableBy,
      unattended: { code: "NOT_CLAIMED", freeSlots: 3 },
    });

    expect(explanationLines(given, LOOK).slice(0, 4)).toEqual([
      "▷ available  add index  (kind apply-migration, attempt 1)",
      "Ready for 18 s: nobody has claimed it yet, 3 slots are free.",
      "  inst-a  4 of 4 slots used  full",
      "  inst-b  1 of 4 slots used  can claim it",
    ]);
  });

  const THEN = "2026-11-16T12:00:20.000Z";
  test("a row that is missing: no gate is named", () => {
    const unattended = { code: "NOT_IN_WORK_SET", workSet: "waiting" } as const;

    expect(verdictOf({ unattended })).toMatch(/^Waiting 18 s: its row is missing/);
    expect(waitingLines([explanation({ unattended })], LOOK)[0]).toMatch(
      /NOT_IN_WORK_SET: its row is missing/,
    );
  });

  test("RUNNING on an instance that is lost: which one, and what it waits for", () => {
    const claimedBy = { instanceId: "1", name: "inst-a", leaseUntil: THEN };

    expect(
      verdictOf({ status: "RUNNING", claimedBy, unattended: { code: "LEASE_OVER", leaseUntil: THEN } }),
    ).toBe(
      "Running for 18 s on inst-a: the lease of its instance ended 10 s ago, and it waits to be rescued.",
    );
  });

  test("a cancel of what goes on outside: nobody has been told yet", () => {
    const given = explanation({ status: "RUNNING", cancelRequestedAt: THEN });

    expect(explanationLines(given, LOOK).join("\n")).toContain("Whoever polls it next ends it.");
  });

  test("RUNNING: who has it, and that it was asked to stop", () => {
    const lines = explanationLines(
      explanation({
        status: "RUNNING",
        claimedBy: { instanceId: "1", name: "inst-a", leaseUntil: "2026-11-16T12:00:32.500Z" },
        cancelRequestedAt: "2026-11-16T12:00:28.000Z",
      }),
      LOOK,
    );

    expect(lines[1]).toBe("Running for 18 s on inst-a, whose lease ends in 2.5 s unless renewed.");
    expect(lines[2]).toBe("Canceling: requested 2.0 s ago. The instance that runs it has been told.");
  });

  test("ended: how and when", () => {
    expect(verdictOf({ status: "FAILED", outcome: "LEASE_LOST" })).toBe(
      "Ended 12:00:12, 18 s ago: LEASE_LOST.",
    );
  });
});

test("what ended says what its error was, and who asked for its end and why", () => {
  const failed = explanation({ status: "FAILED", outcome: "HANDLER_FAILED", message: "deadlock detected" });
  const canceled = explanation({
    status: "CANCELED",
    outcome: "CANCELED",
    cancelRequestedAt: "2026-11-16T12:00:20.000Z",
    cancelRequestedBy: "ada",
    cancelReason: "no need",
  });

  expect(explanationLines(failed, LOOK)[1]).toMatch(/: HANDLER_FAILED, deadlock detected\.$/);
  expect(explanationLines(canceled, LOOK).join("\n")).toContain("Cancel requested 10 s ago by ada: no need.");
});

test("what came from another gate says how long it has been at this one", () => {
  const blockedSince = "2026-11-16T12:00:25.000Z";

  expect(verdictOf({ blockedSince, gates: [...OPEN_GATES, BUSY] })).toMatch(
    /^Waiting 18 s \(at this gate 5\.0 s\): /,
  );
});

test("a list has a line for each that waits, with its cause, blocker and place", () => {
  const lines = waitingLines(
    [explanation({ gates: [...OPEN_GATES, BUSY] }), explanation({ status: "RUNNING" })],
    LOOK,
  );

  expect(lines).toEqual([
    '◷ pending  019a8c3e-5d21-7abc-8def-0000  add index  18 s  RESOURCE_BUSY: "orders" is in use by another task,' +
      ' and it wants it alone, behind "add column" (running on inst-b), number 2 of 3 in line',
  ]);
});

test("without colour there is no escape code, and ASCII where symbols cannot be shown", () => {
  const ascii = createLook({ color: false, unicode: false });
  const colored = createLook({ color: true, unicode: true });
  const given = explanation({ gates: [...OPEN_GATES, BUSY] });

  expect(explanationLines(given, LOOK).join("\n")).not.toContain("\u001b");
  expect(explanationLines(given, colored).join("\n")).toContain("\u001b");
  expect(explanationLines(given, ascii)[0]).toMatch(/^\? pending {2}/);
});

function verdictOf(facts: Partial<Explanation>): string | undefined {
  return explanationLines(explanation(facts), LOOK)[1];
}

function explanation(facts: Partial<Explanation>): Explanation {
  return {
    taskRunId: TASK_RUN,
    taskId: "019a8c3e-5d21-7abc-8def-000000000009",
    runId: null,
    title: "add index",
    kind: "apply-migration",
    attempt: 1,
    status: "PENDING",
    since: "2026-11-16T12:00:12.000Z",
    computedAt: NOW,
    blockedOn: null,
    blockedSince: null,
    cancelRequestedAt: null,
    cancelRequestedBy: null,
    cancelReason: null,
    outcome: null,
    message: null,
    gates: [],
    unattended: null,
    claimableBy: [],
    claimedBy: null,
    ...facts,
  };
}
