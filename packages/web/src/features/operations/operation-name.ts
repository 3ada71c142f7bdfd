import type { Operation } from "@signalbox/contract";
import type { Words } from "../../shared/i18n/use-words.ts";
import { countText } from "../resources/count-text.ts";

/** What it does, and to how many: "Retry 10,240 task runs". */
export function operationName({ verb, expected: { eligible } }: Operation, words: Words): string {
  return words(`operation.${verb}Act`, { count: eligible.count, shown: countText(eligible, words.locale) });
}
