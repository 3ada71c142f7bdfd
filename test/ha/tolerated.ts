/** Passes that may fail where a trial breaks the line itself, and not only what is at its end. */

import type { ToldError } from "./instance-messages.ts";
import { tellsTooSlow } from "./outage.ts";

/** No answer in time, whichever side said so; a server that is no primary; a line that was cut while it was made. */
export function brokenLine({ code, message }: ToldError): boolean {
  return (
    code === "NOT_THE_PRIMARY" ||
    code === "25006" ||
    tellsTooSlow({ code, message }) ||
    /^(?:timeout exceeded when trying to connect|timeout expired|read ECONNRESET)/.test(message)
  );
}
