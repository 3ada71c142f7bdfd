import { InvalidArgumentError } from "commander";

/** The name of a queue, a resource and the like. These few cannot be part of an address. */
export function name(text: string): string {
  if (!/^\.{0,2}$/.test(text)) return text;
  throw new InvalidArgumentError(text === "" ? "It is empty." : `"${text}" cannot be a name here.`);
}
