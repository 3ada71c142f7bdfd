/**
 * A short transaction as one series of messages with one answer. One behind the other BEGIN, lock, statement and COMMIT are each
 * answered by themselves: on an idle server that is a tenth of the time of a claim. Where one fails, none behind it is carried out.
 *
 * Only of statements that the session has prepared. Of what it had to read first nobody could tell whether it has, where
 * something fails.
 */

import pg from "pg";

export interface Named {
  readonly name: string;
  readonly text: string;
  /** Left out: it is one that opens or ends a transaction, and answers with no rows. */
  readonly values?: unknown[];
}

/** What opens or ends a transaction is called by its own text. */
export function asNamed(text: string): Named {
  return { name: text, text };
}

/**
 * All values together, in bytes. With names and the rest it goes in one segment of a network: it arrives as a whole or not at all. A
 * session that waits for the rest of a series has begun a transaction, and the server does not end it as one that stands still.
 */
const SHORT_BYTES = 900;

/** A number, a flag or an instant as a text. */
const MOST_OF_OTHERS = 30;

export function isShort(statements: readonly Named[]): boolean {
  let bytes = 0;
  for (const { values = [] } of statements) {
    for (const value of values) bytes += bytesOf(value);
    if (bytes > SHORT_BYTES) return false;
  }
  return true;
}

function bytesOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  const isSmall =
    value === null || typeof value === "number" || typeof value === "boolean" || value instanceof Date;
  // Of anything else the driver makes a text of whatever length.
  return isSmall ? MOST_OF_OTHERS : Number.POSITIVE_INFINITY;
}

/** What the driver remembers of a session. Not in its types, and where it is gone nothing is known. */
interface Memory {
  readonly parsedStatements?: Record<string, string>;
  readonly submittedNamedStatements?: Record<string, string>;
}

function memoryOf(client: pg.PoolClient): Memory {
  return (client as unknown as { readonly connection: Memory }).connection;
}

export function isPrepared(client: pg.PoolClient, { name, text }: Named): boolean {
  return memoryOf(client).parsedStatements?.[name] === text;
}

/** Lets the session read these, so that it knows them from then on. They are not carried out, and nobody has to wait. */
export function prepareLater(client: pg.PoolClient, statements: readonly Named[]): void {
  const { parsedStatements: parsed, submittedNamedStatements: submitted } = memoryOf(client);
  if (parsed === undefined || submitted === undefined) return;
  const unknown = statements.filter(
    ({ name }) => parsed[name] === undefined && submitted[name] === undefined,
  );
  if (unknown.length === 0) return;
  for (const { name, text } of unknown) submitted[name] = text;
  const series = new Series(
    (connection) => {
      for (const { name, text } of unknown) connection.parse({ name, text, types: [] }, true);
    },
    (error) => {
      for (const { name, text } of unknown) {
        delete submitted[name];
        if (!error) parsed[name] = text;
      }
    },
  );
  client.query(series);
}

/** An answer for each, in their order. */
export async function sendTogether(
  client: pg.PoolClient,
  statements: readonly Named[],
): Promise<readonly pg.QueryResult[]> {
  return await new Promise((resolve, reject) => {
    let unsent: Error | undefined;
    const note = (error: unknown): void => {
      if (error instanceof Error) unsent = error;
    };
    const series = new Series(
      (connection) => {
        for (const statement of statements) {
          // One that cannot be sent: nothing behind it may be, least of all the COMMIT.
          if (unsent === undefined) write(connection, statement, note);
        }
      },
      (error, results) => {
        if (unsent ?? error) reject(unsent ?? error);
        else if (results.length !== statements.length)
          reject(new Error(`${statements.length} statements were sent and ${results.length} answered`));
        else resolve(results);
      },
    );
    client.query(series);
  });
}

function write(
  connection: pg.Connection,
  { name, text, values }: Named,
  onUnsent: (error: unknown) => void,
): void {
  if (values !== undefined) {
    // It says in two ways that it was not sent, and in its types in neither.
    onUnsent(new pg.Query({ name, text, values }, onUnsent).submit(connection) as unknown);
    return;
  }
  // Nobody asks what its rows look like.
  connection.bind({ statement: name }, true);
  connection.execute({}, true);
}

type Answered = (error: Error | null | undefined, results: readonly pg.QueryResult[]) => void;

/** Whatever is written into it, the server answers when all of it is done. */
class Series extends pg.Query {
  constructor(fill: (connection: pg.Connection) => void, onAnswer: Answered) {
    super("", onAnswer as unknown as ConstructorParameters<typeof pg.Query>[1]);
    this.submit = (connection) => {
      connection.stream.cork();
      try {
        fill(withinOf(connection));
      } finally {
        connection.sync();
        connection.stream.uncork();
      }
    };
  }
}

const withins = new WeakMap<pg.Connection, pg.Connection>();

/** The same connection, on which the end of a statement is not yet that of the series. */
function withinOf(connection: pg.Connection): pg.Connection {
  const known = withins.get(connection);
  if (known !== undefined) return known;
  const within = Object.create(connection, { sync: { value: () => {} } }) as pg.Connection;
  withins.set(connection, within);
  return within;
}
