/** A line as it would look on a terminal, in spans: text and class names, never markup. */

import Anser from "anser";
import { safeText } from "../../shared/safe-text.ts";

export interface Span {
  readonly text: string;
  readonly className: string;
}

const ESC = "\u001b";
const BEL = "\u0007";
/** Titles and links (OSC), moves of the cursor (CSI without the final m), device texts (DCS and the like), the rest. */
const OTHER_SEQUENCES = new RegExp(
  [
    `${ESC}\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)?`,
    `${ESC}\\[[0-9;?<=>!]*[ -/]*[@-ln-~]`,
    `${ESC}[PX^_][^${ESC}]*${ESC}\\\\`,
    `${ESC}[^[\\]PX^_]`,
  ].join("|"),
  "g",
);

const DECORATION: Readonly<Record<string, string>> = {
  bold: "font-bold",
  italic: "italic",
  underline: "underline",
  strikethrough: "line-through",
};

/** A carriage return begins the line anew: of a progress bar the last state is left. */
export function ansiSpans(line: string): readonly Span[] {
  const text = line.replace(/\r+$/, "").split("\r").at(-1) ?? "";
  return Anser.ansiToJson(text.replace(OTHER_SEQUENCES, ""), { use_classes: true, remove_empty: true }).map(
    ({ content, fg, bg, decorations }) => ({
      text: safeText(content.replaceAll("\t", "    ")),
      // Of 256 and more colours nobody knows how they read on this page: they are shown in its own.
      className: [
        colour(bg === "" || bg === null ? fg : null),
        ...decorations.map((each) => DECORATION[each] ?? ""),
      ]
        .filter((name) => name !== "")
        .join(" "),
    }),
  );
}

function colour(name: string | null): string {
  return name !== null && /^ansi-(?:bright-)?(?:black|red|green|yellow|blue|magenta|cyan|white)$/.test(name)
    ? name
    : "";
}
