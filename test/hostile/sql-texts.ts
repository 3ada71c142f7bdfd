/** Texts that would be SQL if somebody put them into a statement instead of beside it. */

const OPENINGS = ["", "'", '"', "''", "')", "'))", "\\'", "$$", "/*", "x' "] as const;
const MIDDLES = [
  "OR 1=1",
  "OR 'a'='a'",
  "AND 1=0",
  "; DROP TABLE signalbox.task_run",
  "; DELETE FROM signalbox.task_run",
  "; UPDATE signalbox.task_run SET status = 'DONE'",
  "UNION SELECT null, version()",
  "UNION ALL SELECT rolpassword FROM pg_authid",
  "|| pg_sleep(9)",
  "; SELECT pg_sleep(9)",
  "; COPY (SELECT 1) TO PROGRAM 'touch canary'",
  "LIKE '%'",
  "::int",
  "; COMMIT; BEGIN",
] as const;
const ENDINGS = ["", " --", ";", " /*"] as const;

/** Where a pattern, a cursor, a number or an identifier is expected. */
const SHORT = [
  "%",
  "_",
  "%%",
  "\\",
  "\\%",
  "%_\\",
  "$1",
  "${1}",
  ":name",
  "?",
  "@@version",
  "now()",
  "NULL",
  "DEFAULT",
  "1;--",
  "1 OR 1",
  "0x41",
  "E'\\\\x41'",
  "U&'\\0041'",
  'U&"d\\0061t"',
  "current_user",
  "(SELECT 1)",
  "id DESC, pg_sleep(9)",
  "task_run.id",
  "public.x",
  "'\u02bc'",
  "\uff07 OR 1=1",
  "\u0027",
  "%27%20OR%201%3D1",
  "\n-- \n",
] as const;

export const SQL_TEXTS: readonly string[] = [
  ...OPENINGS.flatMap((opening) =>
    MIDDLES.flatMap((middle) => ENDINGS.map((ending) => `${opening} ${middle}${ending}`.trim())),
  ),
  ...SHORT,
];
