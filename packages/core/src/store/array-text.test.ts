import { expect, it } from "vitest";
import { arrayText } from "./array-text.ts";

it.each([
  ["nothing", [], "{}"],
  ["ids and codes as they are", ["0192-ab", "SUCCEEDED"], "{0192-ab,SUCCEEDED}"],
  ["numbers, truths and nulls", [1, -2.5, 1e21, true, null, undefined], "{1,-2.5,1e+21,true,NULL,NULL}"],
  ["what would be taken for NULL, in quotes", ["null", "NULL", "Nullable"], '{"null","NULL",Nullable}'],
  ["what means something in an array, in quotes", ["a b", "a,b", "{}", ""], '{"a b","a,b","{}",""}'],
  ["quotes and backslashes, escaped", ['say "hi"', "a\\b"], '{"say \\"hi\\"","a\\\\b"}'],
  ["what is not ASCII, in quotes", ["größe", "😀"], '{"größe","😀"}'],
])("writes %s", (_, values, text) => {
  expect(arrayText(values)).toBe(text);
});

it("leaves what it does not know to the driver", () => {
  expect(arrayText([new Date(0)])).toBeNull();
  expect(arrayText([["nested"]])).toBeNull();
});
