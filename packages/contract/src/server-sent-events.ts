/** Reads what a server sends as `text/event-stream`: Node has no EventSource. Pure but for the reading. */

export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/** Ends where the body ends. What stands before an empty line is one event; comments are passed over. */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  // Not a TextDecoderStream: the types of Node and of browsers do not agree on what flows into it.
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).replaceAll("\r\n", "\n").split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = eventIn(block);
        if (event !== null) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function eventIn(block: string): ServerSentEvent | null {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
    if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }
  return data.length === 0 ? null : { event, data: data.join("\n") };
}
