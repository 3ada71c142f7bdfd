/** SQL as SQL: every `${}` becomes `$n`, and there is no way to splice text. */

declare const row: unique symbol;

export interface Statement<Row> {
  /** For logs and traces; on the wire statements are unnamed, because a pooler may stand in between. */
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  readonly [row]?: Row;
}

export function sql<Row>(name: string): (text: TemplateStringsArray, ...values: unknown[]) => Statement<Row> {
  return (text, ...values) => ({
    name,
    text: text.reduce((before, part, index) => `${before}$${index}${part}`),
    values,
  });
}
