/** What the embedded server is told on its command line, which wins over the configuration files of its data. */

export interface ServerSettings {
  readonly durable: boolean;
  readonly port: number;
  /** Wins over everything below. */
  readonly extra: Readonly<Record<string, string>>;
}

export function serverArgs(dataDir: string, settings: ServerSettings, platform: string): readonly string[] {
  const named = { ...settingsFor(settings.durable, platform), ...settings.extra };
  return [
    "-D",
    dataDir,
    "-p",
    `${settings.port}`,
    ...Object.entries(named).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
}

function settingsFor(durable: boolean, platform: string): Readonly<Record<string, string>> {
  return {
    listen_addresses: "127.0.0.1",
    // No socket file: its path has a length limit, and its usual folder is closed to most users.
    unix_socket_directories: "",
    max_connections: "200",
    shared_buffers: durable ? "256MB" : "64MB",
    track_commit_timestamp: "on",
    timezone: "UTC",
    log_timezone: "UTC",
    // `why-exited.ts` reads what a server that ended at once had to say, by its process id and in English.
    log_line_prefix: "%m [%p] ",
    lc_messages: "C",
    // Other systems cannot notice a closed connection and refuse to start with it.
    ...(platform === "linux" ? { client_connection_check_interval: "5s" } : {}),
    ...(durable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  };
}
