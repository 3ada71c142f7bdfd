import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readToken } from "./read-token.ts";

const TOKEN = "correct-horse-battery-staple";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "signalbox-token-"));
});
afterAll(async () => {
  await rm(dir, { recursive: true });
});

async function file(text: string): Promise<string> {
  const path = join(dir, "token");
  await writeFile(path, text);
  return path;
}

test("a token comes from the environment, or from a file without the newline at its end", async () => {
  expect(await readToken({ token: TOKEN, tokenFile: null })).toBe(TOKEN);
  expect(await readToken({ token: null, tokenFile: await file(`${TOKEN}\n`) })).toBe(TOKEN);
  expect(await readToken({ token: null, tokenFile: null })).toBeNull();
});

test("what cannot be a token is refused by the name of where it came from", async () => {
  const refusalOf = async (text: string): Promise<string> =>
    String(await readToken({ token: null, tokenFile: await file(text) }).catch((error: unknown) => error));

  expect(await refusalOf("short\n")).toContain("SIGNALBOX_TOKEN_FILE has 5 characters");
  expect(await refusalOf(`${TOKEN}\n\n`)).toContain(
    "SIGNALBOX_TOKEN_FILE has a character that no header can carry",
  );
});

test("both, or a file that is not there, are one sentence", async () => {
  await expect(readToken({ token: TOKEN, tokenFile: "/run/token" })).rejects.toThrow(
    "both set; set one of them",
  );
  await expect(readToken({ token: null, tokenFile: join(dir, "gone") })).rejects.toThrow("(ENOENT)");
});
