/** Whether a page of this server asks. A browser sends its cookie also where a page of somebody else does. */

import { RequestError } from "./problem.ts";

export interface PageOfRequest {
  readonly isHttps: boolean;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** Sec-Fetch-Site: no page can set it. */
  readonly fetchSite: string | undefined;
}

export function isSameOrigin({ isHttps, host, origin, fetchSite }: PageOfRequest): boolean {
  if (fetchSite !== undefined) return fetchSite === "same-origin";
  return host !== undefined && origin === `${isHttps ? "https" : "http"}://${host}`;
}

export function requireSameOrigin(page: PageOfRequest): void {
  if (isSameOrigin(page)) return;
  const who =
    page.origin === undefined ? "A page that does not say where it is from" : `A page of ${page.origin}`;
  throw new RequestError("FOREIGN_ORIGIN", `${who} may not change anything here`);
}
