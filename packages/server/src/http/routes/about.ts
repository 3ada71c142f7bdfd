import type { About } from "@signalbox/contract";
import type { FastifyInstance } from "fastify";
import { VERSION } from "../../version.ts";

export type AboutServer = Pick<About, "mode" | "environmentName">;

export function addAbout(app: FastifyInstance, { mode, environmentName }: AboutServer): void {
  app.get(
    "/api/v1/about",
    (): About => ({ version: VERSION, environmentName, mode, serverTime: new Date().toISOString() }),
  );
}
