/** Eight silhouettes, so that no status is told by its colour alone. Drawn in `currentColor`. */

import type { ReactNode } from "react";

export const STATUSES = [
  "NOT_STARTED",
  "PENDING",
  "AVAILABLE",
  "RUNNING",
  "DONE",
  "FAILED",
  "CANCELED",
  "SKIPPED",
] as const;

export type Status = (typeof STATUSES)[number];
export type ShownStatus = Status | "PAUSED";

const line = {
  fill: "none",
  stroke: "currentColor",
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;
/** What is cut out of a filled shape shows the surface behind it. */
const cut = { ...line, stroke: "var(--panel)" } as const;

const SHAPES: Readonly<Record<ShownStatus, ReactNode>> = {
  NOT_STARTED: <circle cx="8" cy="8" r="6" {...line} strokeWidth="1.5" strokeDasharray="2.2 2.5" />,
  PENDING: (
    <>
      <rect x="2" y="2" width="12" height="12" rx="2.5" {...line} strokeWidth="1.5" />
      <path d="M8 4.6V8.2L10.4 9.8" {...line} strokeWidth="1.5" />
    </>
  ),
  AVAILABLE: <path d="M4 2.2L13.6 8L4 13.8Z" {...line} strokeWidth="1.6" />,
  RUNNING: (
    <>
      <circle cx="8" cy="8" r="6" {...line} strokeOpacity="0.3" strokeWidth="2" />
      <g className="turning">
        <circle cx="8" cy="8" r="6" fill="none" />
        <path d="M8 2a6 6 0 1 1-6 6" {...line} strokeWidth="2" />
      </g>
      <circle cx="8" cy="8" r="2.2" fill="currentColor" />
    </>
  ),
  DONE: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <path d="M4.8 8.3L7.1 10.5L11.3 5.8" {...cut} strokeWidth="1.7" />
    </>
  ),
  FAILED: (
    <>
      <path d="M5.1 1H10.9L15 5.1V10.9L10.9 15H5.1L1 10.9V5.1Z" fill="currentColor" />
      <path d="M5.4 5.4L10.6 10.6M10.6 5.4L5.4 10.6" {...cut} strokeWidth="1.8" />
    </>
  ),
  CANCELED: (
    <>
      <circle cx="8" cy="8" r="6" {...line} strokeWidth="1.5" />
      <path d="M3.8 12.2L12.2 3.8" {...line} strokeWidth="1.5" />
    </>
  ),
  SKIPPED: (
    <>
      <path d="M8 1.2L14.8 8L8 14.8L1.2 8Z" {...line} strokeWidth="1.4" />
      <path d="M5.6 5.8L7.8 8L5.6 10.2M8.6 5.8L10.8 8L8.6 10.2" {...line} strokeWidth="1.4" />
    </>
  ),
  PAUSED: <path d="M5.5 3V13M10.5 3V13" {...line} strokeWidth="2.4" />,
};

/** Without a word beside it: the caller puts one there, or gives the icon a `label`. */
export function StatusIcon({ status, label, size = 16 }: StatusIconProps) {
  return (
    <svg
      className="status-icon shrink-0"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      style={{ color: `var(--${status})` }}
      {...(label === undefined ? { "aria-hidden": true } : { role: "img", "aria-label": label })}
    >
      {SHAPES[status]}
    </svg>
  );
}

interface StatusIconProps {
  readonly status: ShownStatus;
  readonly label?: string;
  readonly size?: number;
}
