import type { TaskRun } from "@signalbox/contract";
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type Ref, useEffect, useImperativeHandle, useRef, useState } from "react";
import { useWords } from "../../shared/i18n/use-words.ts";
import { ansiSpans } from "./ansi-spans.ts";
import { firstError, type LogLine, linkedLine, linkTo } from "./log-lines.ts";
import type { Log } from "./use-log.ts";

export interface LogViewHandle {
  readonly show: (index: number) => void;
}

interface LogViewProps {
  readonly ref: Ref<LogViewHandle>;
  readonly log: Log;
  readonly status: TaskRun["status"];
  readonly wrap: boolean;
  readonly marked: number | null;
  readonly onMark: (index: number) => void;
}

const LINE_HEIGHT = 22;
const AT_END_PX = 30;

export function LogView({ ref, log, status, wrap, marked, onMark }: LogViewProps) {
  const words = useWords();
  const frame = useRef<HTMLDivElement>(null);
  const lastTop = useRef(0);
  const { lines } = log;
  // How many lines there were when the reader stopped to follow; null: they follow.
  const [stoppedAt, setStoppedAt] = useState<number | null>(
    status === "RUNNING" && !isLinked() ? null : lines.length,
  );
  const following = stoppedAt === null;
  const stop = (): void => setStoppedAt((before) => before ?? lines.length);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => frame.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  const show = (index: number): void => {
    stop();
    virtual.scrollToIndex(index, { align: "center" });
  };
  useImperativeHandle(ref, () => ({ show }));
  useOpeningPlace(log, status, (index) => {
    if (isLinked()) onMark(index);
    show(index);
  });
  useEffect(() => {
    if (following && lines.length > 0) virtual.scrollToIndex(lines.length - 1, { align: "end" });
  }, [following, lines.length, virtual]);
  return (
    <div className="relative">
      <div
        ref={frame}
        role="log"
        aria-live="off"
        aria-label={words("log.title")}
        tabIndex={0}
        className="max-h-[min(28rem,70vh)] min-h-16 overflow-auto border-t border-line bg-page font-mono text-[0.8125rem] leading-[22px]"
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          const atEnd = scrollHeight - scrollTop - clientHeight < AT_END_PX;
          // We ourselves only go down.
          if (scrollTop < lastTop.current && !atEnd) stop();
          lastTop.current = scrollTop;
        }}
        onPointerUp={() => {
          // What is selected would move away.
          if (getSelection()?.isCollapsed === false) stop();
        }}
        onKeyDown={({ key }) => {
          if (key === "End") setStoppedAt(null);
        }}
      >
        <Lines virtual={virtual} lines={lines} wrap={wrap} marked={marked} onMark={onMark} />
      </div>
      {stoppedAt !== null && !log.ended && (
        <Latest count={Math.max(0, lines.length - stoppedAt)} onFollow={() => setStoppedAt(null)} />
      )}
    </div>
  );
}

function Latest({ count, onFollow }: { readonly count: number; readonly onFollow: () => void }) {
  const words = useWords();
  return (
    <button type="button" className="btn btn-ink absolute end-5 bottom-3 rounded-full" onClick={onFollow}>
      {words("log.latest", { count })}
    </button>
  );
}

interface LinesProps extends Pick<LogViewProps, "wrap" | "marked" | "onMark"> {
  readonly virtual: Virtualizer<HTMLDivElement, Element>;
  readonly lines: readonly LogLine[];
}

function Lines({ virtual, lines, wrap, marked, onMark }: LinesProps) {
  return (
    <div className="relative" style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const line = lines[index];
        return (
          line !== undefined && (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className={`absolute inset-x-0 top-0 flex ${marked === index ? "bg-warn-page" : ""}`}
              style={{ transform: `translateY(${start}px)` }}
            >
              <Line line={line} wrap={wrap} onMark={() => onMark(index)} />
            </div>
          )
        );
      })}
    </div>
  );
}

interface LineProps {
  readonly line: LogLine;
  readonly wrap: boolean;
  readonly onMark: () => void;
}

function Line({ line, wrap, onMark }: LineProps) {
  const words = useWords();
  const mark = (): void => {
    history.replaceState(history.state, "", `${location.pathname}${location.search}${linkTo(line)}`);
    onMark();
  };
  return (
    <>
      <button
        type="button"
        className="w-16 shrink-0 pe-3 text-end text-muted select-none"
        aria-label={words("log.linkTo", { line: line.number ?? line.offset })}
        tabIndex={-1}
        onClick={mark}
      >
        {line.number ?? "·"}
      </button>
      <span
        className={`min-w-0 flex-1 pe-3 ${wrap ? "wrap-anywhere whitespace-pre-wrap" : "whitespace-pre"} ${line.stream === "system" ? "text-muted italic" : ""}`}
      >
        {line.leftOutBytes > 0 && (
          <span className="block text-muted italic">
            {words("log.leftOut", { bytes: line.leftOutBytes })}
          </span>
        )}
        {ansiSpans(line.text).map((span, index) => (
          <span key={index} className={span.className}>
            {span.text}
          </span>
        ))}
      </span>
    </>
  );
}

/** Once all is read: at the line of the address, or at the first error of what has failed. */
function useOpeningPlace(log: Log, status: TaskRun["status"], open: (index: number) => void): void {
  const opened = useRef(false);
  useEffect(() => {
    if (opened.current || !log.read) return;
    opened.current = true;
    const linked = linkedLine(log.lines, location.hash);
    const index = linked ?? (status === "FAILED" ? firstError(log.lines) : null);
    if (index !== null) open(index);
  });
}

function isLinked(): boolean {
  return /^#[Lo]\d/.test(location.hash);
}
