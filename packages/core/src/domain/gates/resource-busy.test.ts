import { describe, expect, it } from "vitest";
import { candidate, gateView, lineEntry } from "../../testing/builders.ts";
import { asTaskId, asTaskRunId } from "../ids.ts";
import { exclusive, type ResourceMode, shared } from "../resource.ts";
import { resourceBusy } from "./resource-busy.ts";

const name = "prod/orders";
const holder = asTaskRunId("holder");
const sharer = asTaskRunId("sharer");
const ahead = asTaskRunId("ahead");
const behind = asTaskRunId("behind");
const wantsAlone = candidate({ enqueuedUs: 50, resources: [exclusive(name)] });
const wantsShared = candidate({ enqueuedUs: 50, resources: [shared(name)] });

describe("a resource that is held", () => {
  it("is open to both modes while nobody holds it", () => {
    expect(resourceBusy(wantsAlone, gateView())).toEqual([]);
    expect(resourceBusy(wantsShared, gateView())).toEqual([]);
  });

  it("keeps out whoever wants it alone while another has it alone, and names the holder", () => {
    const causes = resourceBusy(wantsAlone, gateView({ resources: { [name]: { exclusiveHolder: holder } } }));

    expect(causes).toEqual([
      {
        code: "RESOURCE_BUSY",
        resource: name,
        mode: "exclusive",
        because: "held",
        blockers: [holder],
        reservedFor: null,
      },
    ]);
  });

  it("keeps out sharers while another has it alone", () => {
    const causes = resourceBusy(
      wantsShared,
      gateView({ resources: { [name]: { exclusiveHolder: holder } } }),
    );

    expect(causes).toMatchObject([{ mode: "shared", because: "held", blockers: [holder] }]);
  });

  it("keeps out whoever wants it alone while others share it, and names them", () => {
    const causes = resourceBusy(
      wantsAlone,
      gateView({ resources: { [name]: { sharedHolders: [holder, sharer] } } }),
    );

    expect(causes).toMatchObject([{ mode: "exclusive", because: "held", blockers: [holder, sharer] }]);
  });

  it("counts the sharers that are not named", () => {
    const causes = resourceBusy(
      wantsAlone,
      gateView({ resources: { [name]: { sharedHolders: [], sharedCount: 7 } } }),
    );

    expect(causes).toMatchObject([{ because: "held" }]);
  });

  it("lets sharers share", () => {
    const causes = resourceBusy(
      wantsShared,
      gateView({ resources: { [name]: { sharedHolders: [sharer] } } }),
    );

    expect(causes).toEqual([]);
  });

  it("does not concern a task run that wants nothing", () => {
    const causes = resourceBusy(
      candidate({ resources: [] }),
      gateView({ resources: { [name]: { exclusiveHolder: holder } } }),
    );

    expect(causes).toEqual([]);
  });

  it("gives one cause for each of several resources that block", () => {
    const wantsThree = candidate({ resources: [exclusive("a"), exclusive("b"), shared("c")] });

    const causes = resourceBusy(
      wantsThree,
      gateView({ resources: { a: { sharedHolders: [sharer] }, c: { exclusiveHolder: holder } } }),
    );

    expect(causes).toMatchObject([
      { resource: "a", blockers: [sharer] },
      { resource: "c", blockers: [holder] },
    ]);
  });
});

describe("a resource that is kept for a task whose instance was lost", () => {
  const lostTask = asTaskId("lost");

  it("keeps out everybody else, and names the task", () => {
    const causes = resourceBusy(wantsShared, gateView({ resources: { [name]: { reservedFor: lostTask } } }));

    expect(causes).toEqual([
      {
        code: "RESOURCE_BUSY",
        resource: name,
        mode: "shared",
        because: "reserved",
        blockers: [],
        reservedFor: lostTask,
      },
    ]);
  });

  it("is open to that task", () => {
    const causes = resourceBusy(
      candidate({ taskId: lostTask, resources: [exclusive(name)] }),
      gateView({ resources: { [name]: { reservedFor: lostTask } } }),
    );

    expect(causes).toEqual([]);
  });

  it("lets that task pass the line of its other resources as well", () => {
    const line = [lineEntry({ taskRunId: ahead })];

    const causes = resourceBusy(
      candidate({ taskId: lostTask, enqueuedUs: 50, resources: [exclusive(name), exclusive("b")] }),
      gateView({ resources: { [name]: { reservedFor: lostTask, line }, b: { line, lineGoesOn: true } } }),
    );

    expect(causes).toEqual([]);
  });

  it("does not let that task have what another holds", () => {
    const causes = resourceBusy(
      candidate({ taskId: lostTask, resources: [exclusive(name), shared("b")] }),
      gateView({ resources: { [name]: { reservedFor: lostTask }, b: { exclusiveHolder: holder } } }),
    );

    expect(causes).toMatchObject([{ resource: "b", because: "held", blockers: [holder] }]);
  });
});

describe("the line of a free resource", () => {
  const verdicts: readonly (readonly [ahead: ResourceMode, wanted: ResourceMode, verdict: string])[] = [
    ["exclusive", "exclusive", "waits"],
    ["exclusive", "shared", "waits"],
    ["shared", "exclusive", "waits"],
    ["shared", "shared", "goes"],
  ];

  it.each(verdicts)("with %s ahead: %s %s", (mode, wanted, verdict) => {
    const line = [lineEntry({ taskRunId: ahead, mode })];

    const causes = resourceBusy(
      wanted === "exclusive" ? wantsAlone : wantsShared,
      gateView({ resources: { [name]: { line } } }),
    );

    expect(causes.length > 0 ? "waits" : "goes").toBe(verdict);
  });

  it("is named as the reason, with the first that must go before", () => {
    const line = [
      lineEntry({ taskRunId: sharer, enqueuedUs: 1, mode: "shared" }),
      lineEntry({ taskRunId: ahead, enqueuedUs: 2 }),
      lineEntry({ taskRunId: asTaskRunId("second"), enqueuedUs: 3 }),
    ];

    const causes = resourceBusy(wantsShared, gateView({ resources: { [name]: { line } } }));

    expect(causes).toEqual([
      {
        code: "RESOURCE_BUSY",
        resource: name,
        mode: "shared",
        because: "line",
        blockers: [ahead],
        reservedFor: null,
      },
    ]);
  });

  it("does not hold back whoever stands before the others", () => {
    const line = [lineEntry({ taskRunId: behind, enqueuedUs: 51 })];

    const causes = resourceBusy(wantsAlone, gateView({ resources: { [name]: { line } } }));

    expect(causes).toEqual([]);
  });

  it("does not hold back the one that stands first in it", () => {
    const line = [
      lineEntry({ taskRunId: wantsAlone.taskRunId, enqueuedUs: 50 }),
      lineEntry({ taskRunId: behind, enqueuedUs: 51 }),
    ];

    const causes = resourceBusy(wantsAlone, gateView({ resources: { [name]: { line } } }));

    expect(causes).toEqual([]);
  });

  it("puts the more urgent first, however late they came", () => {
    const line = [lineEntry({ taskRunId: ahead, priority: 4, enqueuedUs: 1_000 })];

    const causes = resourceBusy(wantsAlone, gateView({ resources: { [name]: { line } } }));

    expect(causes).toMatchObject([{ because: "line", blockers: [ahead] }]);
  });
});

describe("a line that goes on beyond what is in sight", () => {
  it("keeps a newcomer waiting who would stand behind everyone in sight", () => {
    const line = [lineEntry({ taskRunId: sharer, mode: "shared" })];

    const causes = resourceBusy(wantsShared, gateView({ resources: { [name]: { line, lineGoesOn: true } } }));

    expect(causes).toMatchObject([{ because: "line", blockers: [] }]);
  });

  it("lets a sharer go when nobody in the whole line wants it alone", () => {
    const line = [lineEntry({ taskRunId: sharer, mode: "shared" })];
    const view = gateView({ resources: { [name]: { line, lineGoesOn: true, exclusiveGoesOn: false } } });

    expect(resourceBusy(wantsShared, view)).toEqual([]);
    expect(resourceBusy(wantsAlone, view)).toMatchObject([{ because: "line", blockers: [sharer] }]);
  });

  it("keeps a newcomer waiting when nobody is in sight", () => {
    const causes = resourceBusy(wantsShared, gateView({ resources: { [name]: { lineGoesOn: true } } }));

    expect(causes).toMatchObject([{ because: "line", blockers: [] }]);
  });

  it("lets go whoever is in sight with nobody against them ahead", () => {
    const line = [
      lineEntry({ taskRunId: sharer, enqueuedUs: 1, mode: "shared" }),
      lineEntry({ taskRunId: wantsShared.taskRunId, enqueuedUs: 50, mode: "shared" }),
    ];

    const causes = resourceBusy(wantsShared, gateView({ resources: { [name]: { line, lineGoesOn: true } } }));

    expect(causes).toEqual([]);
  });

  it("lets go a newcomer who stands before somebody in sight", () => {
    const line = [
      lineEntry({ taskRunId: sharer, enqueuedUs: 1, mode: "shared" }),
      lineEntry({ taskRunId: behind, enqueuedUs: 51 }),
    ];

    const causes = resourceBusy(wantsShared, gateView({ resources: { [name]: { line, lineGoesOn: true } } }));

    expect(causes).toEqual([]);
  });
});

describe("a larger version ahead in line", () => {
  const small = candidate({ enqueuedUs: 50, version: "1", resources: [exclusive(name)] });

  it("is not waited for: it waits for the smaller one", () => {
    const line = [lineEntry({ taskRunId: ahead, version: "2" })];

    expect(resourceBusy(small, gateView({ resources: { [name]: { line } } }))).toEqual([]);
  });

  it("comes first all the same when it goes on after its instance was lost", () => {
    const line = [lineEntry({ taskRunId: ahead, version: "2", priority: -1 })];

    const causes = resourceBusy(small, gateView({ resources: { [name]: { line } } }));

    expect(causes).toMatchObject([{ because: "line", blockers: [ahead] }]);
  });
});
