/** A drawing for those who see it, a sentence and a table for everybody. */

import "./readable-language.ts";
import { useEffect, useRef } from "react";
import UPlot from "uplot";
import { useWords } from "../../shared/i18n/use-words.ts";
import { usePreferences } from "../../shared/preferences.ts";
import { useInstantFormat } from "../../shared/time/instant.tsx";
import "uplot/dist/uPlot.min.css";

export interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** A custom property of the theme. */
  readonly colour: string;
  /** Lines differ by their dashes, not by their colour alone. */
  readonly dash: readonly number[];
}

interface LineChartProps {
  /** The beginning of each span, in milliseconds. */
  readonly from: readonly number[];
  readonly series: readonly Series[];
  readonly summary: string;
  readonly format: (value: number) => string;
}

/** How the axes write their numbers. */
interface Writing {
  readonly format: (value: number) => string;
  readonly clock: (seconds: number) => string;
}

const HEIGHT = 180;
const FONT_SIZE = "12px";

export function LineChart({ from, series, summary, format }: LineChartProps) {
  const words = useWords();
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot>(null);
  const { theme } = usePreferences();
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const data: UPlot.AlignedData = [from.map((at) => at / 1000), ...series.map(({ values }) => [...values])];
  const latest = useRef(data);
  latest.current = data;
  const clock = useTickFormat();
  const writing = useRef<Writing>({ format, clock });
  writing.current = { format, clock };
  const look = JSON.stringify([series.map(({ label, colour, dash }) => [label, colour, dash]), theme, dark]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const drawn = new UPlot(
      optionsOf(element, series, {
        format: (value) => writing.current.format(value),
        clock: (seconds) => writing.current.clock(seconds),
      }),
      latest.current,
      element,
    );
    chart.current = drawn;
    const resized = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      drawn.destroy();
    };
    // A change of the look draws anew; new data goes into the chart that is there.
  }, [look]);
  useEffect(() => chart.current?.setData(data));
  return (
    <div className="min-w-0 px-4 pb-3">
      <p className="mb-2 text-sm">{summary}</p>
      <div ref={place} role="img" aria-label={summary} className="min-w-0" />
      <ul className="mt-1 flex flex-wrap gap-x-4 text-sm">
        {series.map(({ label, colour, dash }) => (
          <li key={label} className="inline-flex items-center gap-1.5">
            <svg aria-hidden="true" width="26" height="6">
              <path
                d="M0 3H26"
                strokeWidth="2"
                style={{ stroke: `var(${colour})` }}
                strokeDasharray={dash.join(" ")}
              />
            </svg>
            {label}
          </li>
        ))}
      </ul>
      <details className="mt-1 text-sm">
        <summary className="text-link">{words("chart.table")}</summary>
        <Numbers from={from} series={series} format={format} />
      </details>
    </div>
  );
}

function Numbers({ from, series, format }: Omit<LineChartProps, "summary">) {
  const words = useWords();
  const instant = useInstantFormat();
  return (
    <div className="max-h-64 overflow-auto" tabIndex={0} role="region" aria-label={words("chart.table")}>
      <table className="w-full text-start">
        <thead>
          <tr>
            <th className="text-start font-medium">{words("column.time")}</th>
            {series.map(({ label }) => (
              <th key={label} className="text-start font-medium">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="tabular-nums">
          {from.map((at, index) => (
            <tr key={at}>
              <td>{instant(new Date(at).toISOString(), Date.now())}</td>
              {series.map(({ label, values }) => {
                const value = values[index] ?? null;
                return <td key={label}>{value === null ? "–" : format(value)}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function optionsOf(
  element: HTMLElement,
  series: readonly Series[],
  { format, clock }: Writing,
): UPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const probe = document.createElement("span");
  element.append(probe);
  // A custom property may be light-dark(): only a real colour property says which of both it is.
  const colourOf = (property: string): string => {
    probe.style.color = `var(${property})`;
    return getComputedStyle(probe).color;
  };
  const axis = {
    stroke: colourOf("--muted"),
    grid: { stroke: colourOf("--line"), width: 1 },
    font: `${FONT_SIZE} ${style.fontFamily}`,
  };
  const options: UPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT,
    // Room for the half of the last label.
    padding: [null, 30, null, null],
    legend: { show: false },
    cursor: { show: false },
    series: [
      {},
      ...series.map(({ label, colour, dash }) => ({
        label,
        stroke: colourOf(colour),
        dash: [...dash],
        width: 2,
        spanGaps: true,
        points: { size: 5 },
      })),
    ],
    axes: [
      { ...axis, space: 70, values: (_, ticks) => ticks.map(clock) },
      {
        ...axis,
        size: (plot, texts) => widestOf(plot, texts ?? []),
        values: (_, ticks) => ticks.map(format),
      },
    ],
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
  };
  probe.remove();
  return options;
}

const TICK_ROOM = 20;

/** Or long ones, such as "1 min 15 sec", would lose their beginning. */
function widestOf({ ctx }: UPlot, texts: readonly string[]): number {
  ctx.save();
  ctx.font = `${FONT_SIZE} ${getComputedStyle(document.documentElement).fontFamily}`;
  const widths = texts.map((text) => ctx.measureText(text).width);
  ctx.restore();
  return Math.ceil(Math.max(30, ...widths)) + TICK_ROOM;
}

/** "15:04", "15:04:30" where it is not a full minute. */
function useTickFormat(): (seconds: number) => string {
  const { locale } = useWords();
  const { timeZone } = usePreferences();
  const zone = timeZone === "browser" ? {} : { timeZone };
  return (seconds) => {
    const whole = seconds % 60 === 0;
    const style = {
      hour: "2-digit",
      minute: "2-digit",
      ...(whole ? {} : { second: "2-digit" as const }),
    } as const;
    return new Intl.DateTimeFormat(locale, { ...style, hourCycle: "h23", ...zone }).format(seconds * 1000);
  };
}
