import { ProblemError } from "@signalbox/contract";
import { expect, test } from "vitest";
import { PLAIN_LOOK } from "../render/look.ts";
import { EXIT } from "./exit-code.ts";
import { watch } from "./watch.ts";

test.each([429, 503])(
  "an answer of %i says nothing of what is watched: the looking goes on",
  async (status) => {
    const notes: string[] = [];
    const note = (line: string) => void notes.push(line);
    let looks = 0;
    const read = async (): Promise<number> => {
      looks += 1;
      if (looks === 2)
        throw new ProblemError({ type: "about:blank", title: "", status, code: "X", detail: "Not now" });
      return looks;
    };

    const end = await watch(
      {
        read,
        lines: () => [],
        facts: () => new Map(),
        endOf: (look) => (look === 3 ? EXIT.ok : null),
        again: "",
      },
      {
        intervalMs: 1,
        timeoutMs: null,
        json: false,
        output: { look: PLAIN_LOOK, data: () => {}, note, whenClosed: () => {} },
      },
    );

    expect(end).toBe(EXIT.ok);
    expect(notes).toEqual(["No answer (Not now); asking again."]);
  },
);
