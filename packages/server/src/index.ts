/** What a program around the scheduler can use of the server: its log and its metrics. */

export { logEvents } from "./telemetry/log-events.ts";
export { createLogger, type LogOptions } from "./telemetry/logger.ts";
export { createMetrics, type MeasuredEvent, type Metrics } from "./telemetry/metrics.ts";
