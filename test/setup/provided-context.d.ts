import "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** A superuser's URL of the server of this test run; each test file makes its own database there. */
    adminUrl: string;
  }
}
