/** What an instance knows after the answers to its claims were lost: nothing. */

import type { HeldClaims } from "../src/engine/held-claims.ts";

export function loseAnswers(held: HeldClaims): void {
  for (const each of held.all()) {
    held.endExecution(each);
    held.remove(each.claim);
  }
  const last = held.beginRequest();
  for (let requestNo = 1; requestNo <= last; requestNo += 1) held.loseRequest(requestNo);
}
