import { expect, test } from "vitest";
import { overBudget, weigh } from "../../packages/web/scripts/budget.ts";

const MANIFEST = {
  "index.html": {
    file: "assets/index-a.js",
    isEntry: true,
    imports: ["_shared.js"],
    css: ["assets/index-a.css"],
  },
  "_shared.js": { file: "assets/shared-b.js", imports: ["index.html"] },
  "src/page.tsx": { file: "assets/page-c.js", imports: ["_shared.js"] },
};

test("what is loaded first is the entry with all that it imports, and nothing that comes later", () => {
  const weights = weigh(MANIFEST, (file) => (file === "assets/page-c.js" ? 300_000 : 70_000));

  expect(weights.find(({ name }) => name === "first load")?.bytes).toBe(140_000);
  expect(overBudget(weights).map(({ name }) => name)).toEqual(["styles", "all scripts"]);
});

test("a manifest without an entry is not light, it is wrong", () => {
  expect(() => weigh({}, () => 0)).toThrow("nothing was weighed");
});
