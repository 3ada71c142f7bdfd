/** The messages of PostgreSQL's protocol in bytes that come in pieces, as far as it takes to know what was answered. */

/** How many questions the client has asked in these bytes: each is answered by one READY. */
export type Count = (bytes: Buffer) => number;

/** As the client speaks: its first message has no letter, and is answered like a question. */
export function questionCounter(): Count {
  let started = false;
  return messageReader(
    () => (started ? 1 : 0),
    (letter) => {
      const isQuestion = !started || letter === "Q" || letter === "S";
      started = true;
      return isQuestion;
    },
  );
}

/** As the server speaks. */
export function answerCounter(): Count {
  return messageReader(
    () => 1,
    (letter) => letter === "Z",
  );
}

function messageReader(letterLength: () => 0 | 1, isCounted: (letter: string) => boolean): Count {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (let count = 0; ; ) {
      const letter = letterLength();
      if (rest.length < letter + 4) return count;
      const length = letter + rest.readInt32BE(letter);
      if (rest.length < length) return count;
      if (isCounted(rest.toString("latin1", 0, letter))) count += 1;
      rest = rest.subarray(length);
    }
  };
}
