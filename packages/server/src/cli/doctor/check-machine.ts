/** What of this machine matters: Node, time zones, the file of settings. */

import { stat } from "node:fs/promises";
import type { Finding } from "../../render/finding-lines.ts";
import { readUserConfig, userConfigPath } from "../user-config.ts";

const OLDEST_NODE = [20, 19] as const;
/** A container with a cut-down ICU knows only UTC. */
const SOME_ZONE = "Europe/Berlin";

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  const isNew = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  return isNew
    ? { what: "Node", state: "ok", text: version }
    : { what: "Node", state: "fail", text: version, fix: `Install Node ${OLDEST_NODE.join(".")} or newer` };
}

export function checkTimeZones(): Finding {
  const what = "time zones";
  try {
    new Intl.DateTimeFormat("en", { timeZone: SOME_ZONE }).format(0);
    return {
      what,
      state: "ok",
      text: `known (here: ${new Intl.DateTimeFormat().resolvedOptions().timeZone})`,
    };
  } catch {
    const fix = "Use a Node with full ICU data: windows in other zones cannot be judged here";
    return { what, state: "fail", text: `${SOME_ZONE} is not known`, fix };
  }
}

export async function checkSettings(): Promise<Finding> {
  const [what, path] = ["settings", userConfigPath()];
  try {
    const { contexts } = await readUserConfig();
    const file = await stat(path).catch(() => null);
    if (file === null) return { what, state: "ok", text: "none kept" };
    const open = process.platform !== "win32" && (file.mode & 0o077) !== 0;
    const text = `${Object.keys(contexts).length} contexts in ${path}`;
    return open
      ? { what, state: "warn", text: `${text}, which others may read`, fix: `chmod 600 ${path}` }
      : { what, state: "ok", text };
  } catch (error) {
    return { what, state: "fail", text: error instanceof Error ? error.message : String(error) };
  }
}
