/**
 * The part of the Standard Schema interface that is used here: any library that offers it (zod,
 * valibot, arktype, …) can describe an input, and none of them is a dependency.
 */

/** https://standardschema.dev: give a schema of your library as it is. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export function issuePath(issue: SchemaIssue): string {
  return (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".");
}
