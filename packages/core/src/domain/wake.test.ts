import { describe, expect, it } from "vitest";
import { GATE_CODES } from "./gates/gates.ts";
import { asRunId, asTaskId } from "./ids.ts";
import {
  parkingsOf,
  wakeConcurrencyKey,
  wakeExecutor,
  wakeOf,
  wakePaused,
  wakeQueue,
  wakeRate,
  wakeResource,
  wakeRun,
  wakeStop,
  wakeVersion,
  wakeWindow,
} from "./wake.ts";

const nightly = asRunId("0199-nightly");
const approval = asTaskId("0199-task");

describe("wake keys", () => {
  it("lead to the gates that may have opened", () => {
    const woken = parkingsOf([
      wakeResource("prod/orders"),
      wakeVersion("prod/orders"),
      wakeQueue("mail"),
      wakeConcurrencyKey("customer:7"),
      wakeRate("sms"),
      wakePaused("queue:mail"),
      wakeWindow("resource:prod/orders"),
      wakeExecutor("echo"),
      wakeStop(approval),
    ]);

    expect(woken).toEqual([
      { blockedOn: "RESOURCE_BUSY", blockedKey: "prod/orders" },
      { blockedOn: "VERSION_ORDER", blockedKey: "prod/orders" },
      { blockedOn: "QUEUE_LIMIT", blockedKey: "mail" },
      { blockedOn: "KEY_LIMIT", blockedKey: "customer:7" },
      { blockedOn: "RATE_LIMIT", blockedKey: "sms" },
      { blockedOn: "PAUSED", blockedKey: "queue:mail" },
      { blockedOn: "WINDOW", blockedKey: "resource:prod/orders" },
      { blockedOn: "NO_EXECUTOR", blockedKey: "echo" },
      { blockedOn: "STOPPED", blockedKey: approval },
    ]);
  });

  it("of a run lead to its limit and to its fair share: whoever ends or is claimed makes room in both", () => {
    expect(parkingsOf([wakeRun(nightly)])).toEqual([
      { blockedOn: "RUN_LIMIT", blockedKey: nightly },
      { blockedOn: "FAIR_SHARE", blockedKey: nightly },
    ]);
  });

  it("wake a gate once, however often it was opened", () => {
    const woken = parkingsOf([wakeResource("prod/orders"), wakeResource("prod/orders")]);

    expect(woken).toEqual([{ blockedOn: "RESOURCE_BUSY", blockedKey: "prod/orders" }]);
  });

  it.each(["a:b", "version:x", "run:", ":", "résumé/漢字", ""])("carry the name %j unchanged", (name) => {
    const woken = parkingsOf([wakeResource(name), wakeVersion(name)]);

    expect(woken.map(({ blockedKey }) => blockedKey)).toEqual([name, name]);
  });

  it("of a newer version of Signalbox wake nothing here", () => {
    expect(parkingsOf(["moon:full", "nonsense", "toString:x"])).toEqual([]);
  });

  it("are none where nothing opened", () => {
    expect(parkingsOf([])).toEqual([]);
  });
});

describe("whoever is parked", () => {
  // Time wakes the first, and nothing the second: it never opens.
  it.each(GATE_CODES.filter((code) => code !== "RUN_AT" && code !== "OUT_OF_ORDER"))(
    "at %s is found again by a wake",
    (blockedOn) => {
      const parking = { blockedOn, blockedKey: "a:b" };
      const wake = wakeOf(parking);

      expect(wake).not.toBeNull();
      expect(parkingsOf([wake ?? ""])).toContainEqual(parking);
    },
  );

  it.each(["RUN_AT", "NOT_EVALUATED"] as const)("at %s is woken by time alone", (blockedOn) => {
    expect(wakeOf({ blockedOn, blockedKey: "" })).toBeNull();
  });
});
