import type { TaskRun } from "@signalbox/contract";
import { useMemo } from "react";
import { useWords, type Words } from "../../shared/i18n/use-words.ts";
import { useNow } from "../../shared/time/clock.ts";
import { lengthText } from "../../shared/time/length.ts";
import { Empty, Panel } from "../../shared/ui/panel.tsx";
import { type ChartData, chartData, type LegName } from "./chart-data.ts";
import { LineChart, type Series } from "./line-chart.tsx";

const LEGS: readonly LegName[] = ["gate", "claim", "run"];
/** How often it is looked whether a span is over. */
const STEP_MS = 5_000;

export function Charts({ taskRuns }: { readonly taskRuns: readonly TaskRun[] }) {
  const words = useWords();
  const now = Math.floor(useNow() / STEP_MS) * STEP_MS;
  const data = useMemo(() => chartData(taskRuns, now), [taskRuns, now]);
  return (
    <div className="grid min-w-0 gap-4 lg:grid-cols-2">
      <Panel
        title={words("chart.throughput")}
        block={5}
        aside={words("chart.ofLast", { count: taskRuns.length })}
      >
        {data === null ? <Empty>{words("chart.nothing")}</Empty> : <Throughput data={data} />}
      </Panel>
      <Panel title={words("chart.latency")} aside={words("chart.ofLast", { count: taskRuns.length })}>
        {data === null ? <Empty>{words("chart.nothing")}</Empty> : <Latency data={data} />}
      </Panel>
    </div>
  );
}

function Throughput({ data }: { readonly data: ChartData }) {
  const words = useWords();
  const per = lengthText(data.bucketMs, words.locale);
  const series: readonly Series[] = [
    { label: words("status.DONE"), values: data.ended.DONE, colour: "--DONE", dash: [] },
    { label: words("status.FAILED"), values: data.ended.FAILED, colour: "--FAILED", dash: [6, 4] },
    { label: words("status.CANCELED"), values: data.ended.CANCELED, colour: "--CANCELED", dash: [2, 3] },
  ];
  const summary = words("chart.throughputText", {
    done: data.total.DONE,
    failed: data.total.FAILED,
    canceled: data.total.CANCELED,
    per,
  });
  const number = new Intl.NumberFormat(words.locale);
  return (
    <LineChart from={data.from} series={series} summary={summary} format={(count) => number.format(count)} />
  );
}

function Latency({ data }: { readonly data: ChartData }) {
  const words = useWords();
  const looks = {
    gate: ["--PENDING", [2, 3]],
    claim: ["--AVAILABLE", [6, 4]],
    run: ["--RUNNING", []],
  } as const;
  const series = LEGS.map((leg): Series => {
    const [colour, dash] = looks[leg];
    return { label: words(`chart.${leg}`), values: data.p95[leg], colour, dash };
  });
  return (
    <LineChart
      from={data.from}
      series={series}
      summary={latencySummary(data, words)}
      format={(ms) => lengthText(ms, words.locale)}
    />
  );
}

function latencySummary({ whole }: ChartData, words: Words): string {
  return LEGS.flatMap((leg) => {
    const both = whole[leg];
    if (both === null) return [];
    const [p50, p95] = [both.p50, both.p95].map((ms) => lengthText(ms, words.locale));
    return [words("chart.legText", { leg: words(`chart.${leg}`), p50: p50 ?? "", p95: p95 ?? "" })];
  }).join(" · ");
}
