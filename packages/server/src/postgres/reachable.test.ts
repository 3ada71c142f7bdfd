import { expect, it } from "vitest";
import { mayEnter, mayUse } from "./reachable.ts";

const user = { uid: 101, gid: 104 };

it("lets others into an open folder and keeps them out of a private one", () => {
  expect(mayEnter({ uid: 0, gid: 0, mode: 0o755 }, user)).toBe(true);
  expect(mayEnter({ uid: 0, gid: 0, mode: 0o700 }, user)).toBe(false);
});

it("judges by the first class that matches, even where a later one allows more", () => {
  expect(mayEnter({ uid: 101, gid: 0, mode: 0o077 }, user)).toBe(false);
  expect(mayEnter({ uid: 0, gid: 104, mode: 0o707 }, user)).toBe(false);
  expect(mayEnter({ uid: 0, gid: 104, mode: 0o710 }, user)).toBe(true);
});

it("asks for reading as well where files must be opened", () => {
  expect(mayUse({ uid: 0, gid: 0, mode: 0o711 }, user)).toBe(false);
  expect(mayUse({ uid: 0, gid: 0, mode: 0o755 }, user)).toBe(true);
});
