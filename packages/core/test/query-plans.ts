/** How the server would do what a piece of the store sends: the plans, and what they read. */

import type { Pool, Transaction } from "../src/store/database.ts";
import type { Statement } from "../src/store/sql.ts";

export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly "Scan Direction"?: string;
  readonly "Join Type"?: string;
  readonly "Subplan Name"?: string;
  readonly "CTE Name"?: string;
  readonly Plans?: readonly PlanNode[];
}

/** The plans of every statement that the work sends. Each answers nothing, so some need not send all of theirs. `first` goes with the BEGIN. */
export async function plansSentBy(
  pool: Pool,
  work: (tx: Transaction) => Promise<unknown>,
  first?: string,
): Promise<ReadonlyMap<string, readonly PlanNode[]>> {
  const plans = new Map<string, readonly PlanNode[]>();
  await pool.transaction(async (tx) => {
    const note = async (statement: Statement<unknown>): Promise<void> => {
      const [row] = await (statement.isPrepared === true
        ? explainPrepared(tx, statement)
        : explain(tx, statement.text, statement.values));
      plans.set(statement.name, row === undefined ? [] : flatten(row["QUERY PLAN"][0].Plan));
    };
    // To explain one takes several statements: what is sent together is explained one after the other.
    let before = Promise.resolve();
    await work({
      isTransaction: true,
      query: async (statement) => {
        before = before.then(async () => await note(statement));
        await before;
        return [];
      },
    });
  }, first);
  return plans;
}

interface Explained {
  readonly "QUERY PLAN": readonly [{ readonly Plan: PlanNode }];
}

async function explain(tx: Transaction, text: string, values: unknown[]): Promise<readonly Explained[]> {
  return await tx.query<Explained>({ name: "explain", text: `EXPLAIN (FORMAT JSON) ${text}`, values });
}

/** Once it was carried out a few times its plan is made without a look at the values, and then kept. */
async function explainPrepared(
  tx: Transaction,
  { text, values }: Statement<unknown>,
): Promise<readonly Explained[]> {
  const send = async (command: string): Promise<unknown> =>
    await tx.query({ name: "explain", text: command, values: [] });
  await send("SET LOCAL plan_cache_mode = force_generic_plan");
  await send(`PREPARE planned AS ${text}`);
  const given = values.length === 0 ? "" : `(${values.map(() => "NULL").join(", ")})`;
  const plan = await explain(tx, `EXECUTE planned ${given}`, []);
  await send("DEALLOCATE planned");
  await send("SET LOCAL plan_cache_mode = auto");
  return plan;
}

export function flatten(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}

/** The indexes that are used, "(whole)" where no condition narrows them, and what is read without one. */
export function reads(nodes: readonly PlanNode[] | undefined): readonly string[] {
  return (nodes ?? [])
    .filter(
      (node) =>
        node["Node Type"].includes("Scan") &&
        // The index below it says how it is read.
        node["Node Type"] !== "Bitmap Heap Scan" &&
        (node["Relation Name"] ?? node["Index Name"]) !== undefined,
    )
    .map((node) =>
      node["Index Name"] === undefined
        ? `${node["Node Type"]} ${node["Relation Name"]}`
        : `${node["Index Name"]}${node["Index Cond"] === undefined ? " (whole)" : ""}`,
    );
}

/** By what an index is searched: what is no condition of the index is a filter, and rows are read to be left out. */
export function conditionsOf(nodes: readonly PlanNode[] | undefined, index: string): readonly string[] {
  return (nodes ?? []).flatMap((node) =>
    node["Index Name"] === index ? (node["Index Cond"] ?? "(whole)") : [],
  );
}

export function joins(nodes: readonly PlanNode[] | undefined): readonly string[] {
  return (nodes ?? [])
    .map((node) => node["Node Type"])
    .filter((type) => type === "Hash Join" || type === "Merge Join");
}
