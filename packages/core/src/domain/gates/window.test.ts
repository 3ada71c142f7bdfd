import { describe, expect, it } from "vitest";
import { candidate, gateView, NOON } from "../../testing/builders.ts";
import { exclusive, shared } from "../resource.ts";
import { openUntil, window } from "./window.ts";

const asking = candidate({ queue: "mail", resources: [exclusive("prod/orders"), shared("prod/users")] });
const [soon, late] = [new Date(NOON.getTime() + 1_000), new Date(NOON.getTime() + 2_000)];

describe("the window gate", () => {
  it("is open where nothing has windows, and where all are open", () => {
    expect(window(asking, gateView())).toEqual([]);
    expect(
      window(asking, gateView({ windows: new Map([["queue:mail", { kind: "open", until: soon }]]) })),
    ).toEqual([]);
  });

  it("closes with its queue or any of its resources, and says which window and when it opens", () => {
    const view = gateView({
      windows: new Map([
        ["queue:mail", { kind: "closed", because: "freeze", opensAt: soon }],
        ["resource:prod/orders", { kind: "open", until: late }],
        ["resource:prod/users", { kind: "closed", because: "maintenance", opensAt: null }],
        ["queue:default", { kind: "closed", because: "freeze", opensAt: soon }],
      ]),
    });

    expect(window(asking, view)).toEqual([
      { code: "WINDOW", scope: "queue:mail", window: "freeze", opensAt: soon },
      { code: "WINDOW", scope: "resource:prod/users", window: "maintenance", opensAt: null },
    ]);
  });
});

describe("the instant before which it must be claimed", () => {
  it("is none where no window closes", () => {
    const windows = new Map([["queue:mail", { kind: "open", until: null }]] as const);

    expect(openUntil(asking, gateView())).toBeNull();
    expect(openUntil(asking, gateView({ windows }))).toBeNull();
  });

  it("is the first at which one of them closes, in whatever order they stand", () => {
    const windows = (ofQueue: Date, ofResource: Date): ReturnType<typeof gateView> =>
      gateView({
        windows: new Map([
          ["queue:mail", { kind: "open", until: ofQueue }],
          ["resource:prod/users", { kind: "open", until: ofResource }],
        ]),
      });

    expect(openUntil(asking, windows(soon, late))).toEqual(soon);
    expect(openUntil(asking, windows(late, soon))).toEqual(soon);
  });
});
