import type { LogFormat, LogLevel } from "../config.ts";

export interface ServeSettings {
  readonly databaseUrl: string;
  /** Past a pooler, for LISTEN and migrations. */
  readonly directUrl: string | null;
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  readonly trustedProxies: string | null;
  readonly token: string;
  readonly environmentName: string | null;
  /** Null: host name and process id. */
  readonly instanceName: string | null;
  /** The file with the tasks that this instance can run; null: none. */
  readonly tasksFile: string | null;
  readonly slots: number | null;
  /** Bring the schema up to date first. */
  readonly migrate: boolean;
  readonly drainMs: number;
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}
