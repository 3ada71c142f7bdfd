/** How text is shown here: with colour or without, with symbols or with ASCII, in whose time zone. */

import pc from "picocolors";

type Colors = ReturnType<typeof pc.createColors>;

export interface Look {
  readonly colors: Colors;
  /** False where the terminal's character set is not UTF-8. */
  readonly unicode: boolean;
  /** IANA name. Default: the machine's. */
  readonly timeZone?: string;
}

/** For pipes, files and tests: no escape codes. */
export const PLAIN_LOOK: Look = { colors: pc.createColors(false), unicode: true };

export function createLook(options: { readonly color: boolean; readonly unicode: boolean }): Look {
  return { colors: pc.createColors(options.color), unicode: options.unicode };
}
