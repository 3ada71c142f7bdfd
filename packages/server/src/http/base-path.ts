/** Puts everything below a path: what stands before it is taken off, and all else is not there. */

import type { FastifyInstance } from "fastify";
import { RequestError } from "./problem.ts";

/** The address as the routes know it, or null where it is not below `basePath`. */
export function belowBasePath(basePath: string, url: string): string | null {
  if (basePath === "") return url;
  if (!url.startsWith(basePath)) return null;
  const rest = url.slice(basePath.length);
  if (rest === "") return "/";
  if (rest.startsWith("/")) return rest;
  return rest.startsWith("?") ? `/${rest}` : null;
}

export function refuseOutside(app: FastifyInstance, basePath: string): void {
  if (basePath === "") return;
  app.addHook("onRequest", async ({ method, originalUrl }) => {
    if (belowBasePath(basePath, originalUrl) !== null) return;
    const [path] = originalUrl.split("?");
    throw new RequestError("NO_SUCH_ROUTE", `There is no ${method} ${path}; everything is below ${basePath}`);
  });
}
