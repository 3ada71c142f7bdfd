import { afterEach, expect, it, vi } from "vitest";
import { livingGroups, signalGroup } from "./system-processes.ts";

afterEach(() => void vi.restoreAllMocks());

function refusing(code: string): void {
  vi.spyOn(process, "kill").mockImplementation(() => {
    throw Object.assign(new Error(code), { code });
  });
}

it("leaves a group alone that is gone, or another user's by now", () => {
  for (const code of ["ESRCH", "EPERM"]) {
    refusing(code);
    expect(() => signalGroup(4_000_000, "SIGKILL")).not.toThrow();
  }
});

it("does not hide that a signal could not be sent for another reason", () => {
  refusing("EINVAL");
  expect(() => signalGroup(4_000_000, "SIGKILL")).toThrow("EINVAL");
});

it("finds the group of this process at work, and none that there is not", () => {
  expect(livingGroups([4_000_000])).toEqual(new Set());
  expect(livingGroups([process.pid]).size).toBeLessThanOrEqual(1);
});
