/**
 * By what a process is known for good: its id alone is given out again. Marks are compared only on the same host, which is
 * one start of one system with one view of its processes: another container on the same machine is another host.
 */
export interface ProcessMark {
  readonly host: string;
  /** The id of the process and when it started. */
  readonly process: string;
}
