import { expect, it } from "vitest";
import { asRunId } from "./ids.ts";
import { keyScope, partsOf, queueScope, resourceScope, runScope } from "./scope.ts";

it.each([
  [runScope(asRunId("nightly")), "run", "nightly"],
  [queueScope("mail:bulk"), "queue", "mail:bulk"],
  [keyScope("customer:7"), "key", "customer:7"],
  [resourceScope("prod/orders"), "resource", "prod/orders"],
] as const)("%s is a word and a name, which may itself hold a colon", (scope, over, name) => {
  expect(partsOf(scope)).toEqual({ over, name });
});
