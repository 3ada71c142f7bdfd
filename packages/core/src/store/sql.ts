/** SQL as SQL: every `${}` becomes `$n`, and there is no way to splice text. */

import { arrayText } from "./array-text.ts";

declare const row: unique symbol;

export interface Statement<Row> {
  /** For logs and traces; on the wire only where the server is to keep it prepared. */
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  /** Sent for every task or so: to plan it each time would cost more than to carry it out. */
  readonly isPrepared?: boolean;
  readonly [row]?: Row;
}

type Tag<Row> = (text: TemplateStringsArray, ...values: unknown[]) => Statement<Row>;

export function sql<Row>(name: string): Tag<Row> {
  return (text, ...values) => ({ name, text: joined(text), values: values.map(asParameter) });
}

/** One that is parsed and planned once per connection, where no pooler stands in between. */
export function preparedSql<Row>(name: string): Tag<Row> {
  return (text, ...values) => ({
    name,
    text: joined(text),
    values: values.map(asParameter),
    isPrepared: true,
  });
}

const texts = new WeakMap<TemplateStringsArray, string>();

function joined(text: TemplateStringsArray): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
  const whole = text.reduce((before, part, index) => `${before}$${index}${part}`);
  texts.set(text, whole);
  return whole;
}

/** A list is written here: the driver looks at each element of it several times. */
function asParameter(value: unknown): unknown {
  return Array.isArray(value) ? (arrayText(value) ?? value) : value;
}
