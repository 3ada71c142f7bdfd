import { createServer } from "node:http";
import { createServer as createPlainServer } from "node:net";
import { UnreachableError } from "@signalbox/contract";
import { expect, test } from "vitest";
import { unreachableSentence } from "./unreachable.ts";

const AT = "https://sb.example:7410";

test.each([
  ["ENOTFOUND", "No host is called sb.example"],
  ["EAI_AGAIN", "No host is called sb.example"],
  ["ECONNREFUSED", `Nothing listens at ${AT}`],
  ["ETIMEDOUT", `${AT} does not answer in time`],
  ["UND_ERR_CONNECT_TIMEOUT", `${AT} does not answer in time`],
  ["UND_ERR_SOCKET", `${AT} closed the connection without an answer`],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", `The certificate of ${AT} is signed by nobody you trust`],
  ["CERT_HAS_EXPIRED", `The certificate of ${AT} has expired`],
  ["ERR_TLS_CERT_ALTNAME_INVALID", `The certificate of ${AT} is not for sb.example`],
  ["ERR_SSL_WRONG_VERSION_NUMBER", `${AT} does not speak TLS`],
])("%s has its sentence", (code, sentence) => {
  const cause = new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });

  expect(unreachableSentence(new UnreachableError(AT, code, { cause }))).toContain(sentence);
});

test("of several addresses that were tried, one that is known is named", () => {
  const tried = new AggregateError([Object.assign(new Error("x"), { code: "ECONNREFUSED" })]);
  const cause = new TypeError("fetch failed", { cause: tried });

  expect(unreachableSentence(new UnreachableError(AT, "", { cause }))).toContain("Nothing listens");
});

test("whatever else it is, the client has said it", () => {
  const error = new UnreachableError(AT, "what answers there is not Signalbox (no JSON)");

  expect(unreachableSentence(error)).toBe(`${AT}: what answers there is not Signalbox (no JSON)`);
});

test("a server that hangs up, and one that does not speak TLS, as they really are", async () => {
  const hangsUp = createPlainServer((socket) => void socket.once("data", () => socket.destroy()));
  const plain = createServer((_, response) => response.end("hello"));

  expect(await sentenceOf(hangsUp, "http")).toMatch(/closed the connection without an answer/);
  expect(await sentenceOf(plain, "https")).toMatch(/does not speak TLS/);
});

async function sentenceOf(
  server: ReturnType<typeof createPlainServer>,
  protocol: "http" | "https",
): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const base = `${protocol}://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  try {
    await fetch(base);
    return "";
  } catch (cause) {
    return unreachableSentence(new UnreachableError(base, "", { cause }));
  } finally {
    server.close();
  }
}
