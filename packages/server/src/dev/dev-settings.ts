export interface DevSettings {
  /** The project's `.signalbox`. */
  readonly dir: string;
  readonly databaseUrl: string | null;
  readonly directUrl: string | null;
  readonly pgBinDir: string | null;
  /** The first port to try. */
  readonly port: number;
  readonly instances: number;
  readonly demo: boolean;
  /** Run the demo to its end and leave. */
  readonly once: boolean;
  /** Somebody sits at the terminal and can press keys. */
  readonly interactive: boolean;
}
