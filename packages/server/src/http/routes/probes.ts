/** Whether the process lives and whether it is ready: names of problems and loops, nothing that helps a stranger. */

import type { FastifyInstance } from "fastify";

/** `failing`: its last passes failed. `silent`: none has ended for minutes. */
export type LoopState = "ok" | "failing" | "silent";

export interface Readiness {
  readonly ready: boolean;
  /** Of the instance, by name. */
  readonly problems: readonly string[];
  readonly loops: Readonly<Record<string, LoopState>>;
}

const READY: Readiness = { ready: true, problems: [], loops: {} };
const PROBE = { config: { access: "probe" } } as const;

export function addProbes(app: FastifyInstance, readiness: () => Readiness = () => READY): void {
  app.get("/livez", PROBE, (_, reply) =>
    reply.header("cache-control", "no-store").type("text/plain").send("ok\n"),
  );
  app.get("/readyz", PROBE, (_, reply) => {
    const { ready, problems, loops } = readiness();
    return reply
      .code(ready ? 200 : 503)
      .header("cache-control", "no-store")
      .send({ ready, problems, loops });
  });
}
