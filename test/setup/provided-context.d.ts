import "vitest";
import type { Chromium } from "../browser/locate-chromium.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A superuser's URL of the server of this test run; each test file makes its own database there. */
    adminUrl: string;
    /** Null: none runs here. Only in browser tests. */
    chromium: Chromium | null;
  }
}
