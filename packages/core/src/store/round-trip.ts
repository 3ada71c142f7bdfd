/**
 * Several statements as one message to the server, with one answer. One behind the other each would be answered by itself: on an idle
 * server BEGIN, lock and COMMIT then take a tenth of the time of a claim. Where one fails, none behind it is carried out.
 *
 * Only of statements that the session knows by their names. Of what it has to read first nobody could tell whether it has,
 * where something fails.
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

/** What the driver remembers of a session. Not in its types. */
interface Memory {
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
}

function memoryOf(client: pg.PoolClient): Memory {
  return (client as unknown as { readonly connection: Memory }).connection;
}

export function isKnown(client: pg.PoolClient, { name, text }: Named): boolean {
  return memoryOf(client).parsedStatements[name] === text;
}

/** Lets the session read these, so that it knows them from then on. They are not carried out, and nobody has to wait. */
export function teach(client: pg.PoolClient, statements: readonly Named[]): void {
  const { parsedStatements, submittedNamedStatements } = memoryOf(client);
  const unknown = statements.filter(
    ({ name }) => parsedStatements[name] === undefined && submittedNamedStatements[name] === undefined,
  );
  if (unknown.length === 0) return;
  for (const { name, text } of unknown) submittedNamedStatements[name] = text;
  const lesson = new Message(
    (connection) => {
      for (const { name, text } of unknown) connection.parse({ name, text, types: [] }, true);
    },
    (error) => {
      for (const { name, text } of unknown) {
        delete submittedNamedStatements[name];
        if (!error) parsedStatements[name] = text;
      }
    },
  );
  client.query(lesson);
}

/** An answer for each, in their order. */
export async function sendTogether(
  client: pg.PoolClient,
  statements: readonly Named[],
): Promise<readonly pg.QueryResult[]> {
  return await new Promise((resolve, reject) => {
    let unsent: Error | undefined;
    const note = (error: Error | undefined): void => {
      unsent = error;
    };
    const trip = new Message(
      (connection) => {
        for (const statement of statements) {
          // A value that cannot be sent: nothing behind it may be, least of all the COMMIT.
          if (unsent === undefined) write(connection, statement, note);
        }
      },
      (error, results) => {
        if (unsent ?? error) reject(unsent ?? error);
        else resolve(results);
      },
    );
    client.query(trip);
  });
}

function write(
  connection: pg.Connection,
  { name, text, values }: Named,
  onUnsent: (error: Error | undefined) => void,
): void {
  if (values !== undefined) {
    new pg.Query({ name, text, values }, onUnsent).submit(connection);
    return;
  }
  // It answers with no rows: nobody asks what they look like.
  connection.bind({ statement: name }, true);
  connection.execute({}, true);
}

type Answered = (error: Error | null | undefined, results: readonly pg.QueryResult[]) => void;

/** Whatever is written into it, the server answers when all of it is done. */
class Message extends pg.Query {
  constructor(write: (connection: pg.Connection) => void, onAnswer: Answered) {
    super("", onAnswer as unknown as ConstructorParameters<typeof pg.Query>[1]);
    this.submit = (connection) => {
      connection.stream.cork();
      write(withinOf(connection));
      connection.sync();
      connection.stream.uncork();
    };
  }
}

const withins = new WeakMap<pg.Connection, pg.Connection>();

/** The same connection, on which the end of a statement is not yet that of the message. */
function withinOf(connection: pg.Connection): pg.Connection {
  const known = withins.get(connection);
  if (known !== undefined) return known;
  const within = Object.create(connection, { sync: { value: () => {} } }) as pg.Connection;
  withins.set(connection, within);
  return within;
}
