import { expect, test } from "vitest";
import { PLAIN_LOOK } from "../render/look.ts";
import { createProgram } from "./program.ts";
import { leavesOf, referencePage } from "./reference-page.ts";

const silent = { look: PLAIN_LOOK, data: () => {}, note: () => {}, whenClosed: () => {} };
const program = createProgram(silent, true, () => {});

test("docs/reference/cli.md has every command with every flag", async () => {
  await expect(referencePage(program)).toMatchFileSnapshot("../../../../docs/reference/cli.md");
});

test("the page is about all that can be typed", () => {
  const page = referencePage(program);
  const flags = leavesOf(program).flatMap(({ options }) => options.filter(({ hidden }) => !hidden));

  expect(flags.length).toBeGreaterThan(200);
  for (const { flags: flag } of flags) expect(page).toContain(`\`${flag}\``);
  for (const name of ["status", "why", "runs watch", "resource release", "window set", "completion"])
    expect(page).toContain(`### \`signalbox ${name}`);
});

test("nothing that can be typed is without a description", () => {
  const silentOnes = leavesOf(program).filter((command) => command.description() === "");

  expect(silentOnes.map((command) => command.name())).toEqual([]);
});
