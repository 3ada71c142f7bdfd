import type { Config } from "../config.ts";
import { UsageError } from "../usage-error.ts";

/** The database that a command was given: by flag, else by the environment. There is no other one. */
export function requireDatabaseUrl(
  given: string | undefined,
  { databaseUrl }: Pick<Config, "databaseUrl">,
): string {
  if (given !== undefined && hasPassword(given)) {
    throw new UsageError(
      "--database-url has a password, which the list of processes shows; set SIGNALBOX_DATABASE_URL or PGPASSWORD instead",
    );
  }
  const url = given ?? databaseUrl;
  if (url !== null) return url;
  throw new UsageError(
    "No database is given: set SIGNALBOX_DATABASE_URL or DATABASE_URL to postgres://user:password@host:5432/database",
  );
}

function hasPassword(url: string): boolean {
  return URL.canParse(url) && (new URL(url).password !== "" || new URL(url).searchParams.has("password"));
}
