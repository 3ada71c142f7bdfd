/** The description of the API: for machines, and as a page. */

import type { FastifyInstance } from "fastify";
import { VERSION } from "../../version.ts";
import { describeApi } from "../openapi.ts";
import { API_PAGE_STYLE, renderApiPage } from "../openapi-page.ts";

export function addDocumentRoutes(app: FastifyInstance): void {
  // Made when somebody asks for it: most processes never are.
  let made: { readonly json: string; readonly page: string } | null = null;
  const make = () => {
    const description = describeApi(VERSION);
    return { json: `${JSON.stringify(description, null, 2)}\n`, page: renderApiPage(description) };
  };
  app.get("/api/v1/openapi.json", async (_, reply) => {
    made ??= make();
    return await reply.type("application/json; charset=utf-8").send(made.json);
  });
  app.get("/docs", async (_, reply) => {
    made ??= make();
    return await reply.type("text/html; charset=utf-8").send(made.page);
  });
  app.get(
    "/docs/style.css",
    async (_, reply) => await reply.type("text/css; charset=utf-8").send(API_PAGE_STYLE),
  );
}
