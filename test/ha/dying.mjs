/**
 * Kills its own process at an exact point. Loaded before everything else, in the main thread and in that of the lease:
 * both look at each statement on its way out. A point in the protocol, not in our own code.
 */

import { writeSync } from "node:fs";
import { BroadcastChannel, getEnvironmentData, isMainThread, setEnvironmentData } from "node:worker_threads";
import pg from "pg";

const NAME = "dying";
/** @type {import("./instance-messages.ts").DyingPoint | null} */
let dying = getEnvironmentData(NAME) ?? null;
const others = new BroadcastChannel(NAME);
others.unref();
others.onmessage = ({ data }) => {
  dying = data;
};

/** At the next point of this sort, in whichever thread it is; also in one that starts later. */
export function dieAt(point) {
  dying = point;
  setEnvironmentData(NAME, point);
  others.postMessage(point);
}

export function dieIf(at) {
  if (dying?.at !== at) return;
  // The pipe outlives us: by this it is known who has killed us.
  writeSync(2, `\nIt has died where it was told to: ${dying.name}\n`);
  process.kill(process.pid, "SIGKILL");
}

const send = Reflect.get(pg.Client.prototype, "query");
pg.Client.prototype.query = function (statement, ...rest) {
  const sendIt = () => send.call(this, statement, ...rest);
  if (dying?.text === undefined || (dying.thread === "lease") === isMainThread) return sendIt();
  const text = typeof statement === "string" ? statement : (statement?.text ?? "");
  return sendAndDie(this, text, { isThere: isMeant(text, statement?.values), sendIt });
};

function isMeant(text, values) {
  if (text !== dying.text) return false;
  // A list goes as a text of PostgreSQL's own.
  return dying.value === undefined || values?.some((value) => String(value).includes(dying.value));
}

function sendAndDie(client, text, { isThere, sendIt }) {
  client.isMarked = isThere || (client.isMarked && !text.startsWith("BEGIN"));
  const ends = client.isMarked && text === "COMMIT";
  if (ends) dieIf("before commit");
  const answer = sendIt();
  if (isThere) setImmediate(() => dieIf("sent"));
  // One that failed is told to whoever sent it.
  if (ends)
    answer.then(
      () => dieIf("after commit"),
      () => {},
    );
  return answer;
}
