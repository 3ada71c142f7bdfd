/**
 * The part of the Standard Schema interface that is used here: any library that offers it (zod,
 * valibot, arktype, …) can describe an input, and none of them is a dependency.
 */

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type SchemaInput<Schema> = Schema extends StandardSchema<infer Input, unknown> ? Input : never;
export type SchemaOutput<Schema> = Schema extends StandardSchema<unknown, infer Output> ? Output : never;

export function issuePath(issue: SchemaIssue): string {
  return (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".");
}
