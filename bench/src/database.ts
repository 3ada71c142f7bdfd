/** A database of its own for one round, as scenarios and checks see it. */
export interface Database {
  readonly name: string;
  readonly url: string;
  readonly query: <Row>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;
  readonly drop: () => Promise<void>;
}

/** The instant by the clock that stamps the rows: what is enqueued or claimed from now on is of the next round. */
export async function databaseNow(database: Database): Promise<string> {
  const [row] = await database.query<{ now: string }>("SELECT clock_timestamp()::text AS now");
  if (row === undefined) throw new Error("The database does not say what time it is");
  return row.now;
}
