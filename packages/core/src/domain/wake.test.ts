import { describe, expect, it } from "vitest";
import { asRunId } from "./ids.ts";
import { sortWakes, wakeResource, wakeRun, wakeVersion } from "./wake.ts";

const nightly = asRunId("0199-nightly");

describe("wake keys", () => {
  it("are sorted into the gates that may have opened", () => {
    const woken = sortWakes([
      wakeResource("prod/orders"),
      wakeVersion("prod/orders"),
      wakeRun(nightly),
      wakeResource("prod/users"),
    ]);

    expect(woken).toEqual({
      resources: ["prod/orders", "prod/users"],
      versions: ["prod/orders"],
      runs: [nightly],
    });
  });

  it("wake a gate once, however often it was opened", () => {
    const woken = sortWakes([wakeResource("prod/orders"), wakeResource("prod/orders")]);

    expect(woken.resources).toEqual(["prod/orders"]);
  });

  it.each(["a:b", "version:x", "run:", ":", "résumé/漢字", ""])("carry the name %j unchanged", (name) => {
    const woken = sortWakes([wakeResource(name), wakeVersion(name)]);

    expect(woken).toEqual({ resources: [name], versions: [name], runs: [] });
  });

  it("of a newer version of Signalbox wake nothing here", () => {
    const woken = sortWakes(["queue:mail", "nonsense"]);

    expect(woken).toEqual({ resources: [], versions: [], runs: [] });
  });

  it("are none where nothing opened", () => {
    expect(sortWakes([])).toEqual({ resources: [], versions: [], runs: [] });
  });
});
