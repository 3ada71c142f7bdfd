import type * as core from "@signalbox/core/domain";
import { expectTypeOf, test } from "vitest";
import type * as wire from "./index.ts";

/** What JSON makes of a value of core: instants become text, brands are forgotten. */
type Json<T> = T extends Date
  ? string
  : T extends string
    ? string extends Unbranded<T>
      ? string
      : T
    : T extends readonly (infer Item)[]
      ? Json<Item>[]
      : T extends object
        ? { -readonly [Key in keyof T]: Json<T[Key]> }
        : T;
type Unbranded<T extends string> = T extends
  | core.TaskId
  | core.TaskRunId
  | core.RunId
  | core.InstanceId
  | core.OperationId
  ? string
  : T;

test("what the scheduler answers is what the contract says", () => {
  expectTypeOf<Json<core.TaskRun>>().toEqualTypeOf<wire.TaskRun>();
  expectTypeOf<Json<core.TaskRunDetail>>().toEqualTypeOf<wire.TaskRunDetail>();
  expectTypeOf<Json<core.TaskRunPage>>().toEqualTypeOf<wire.TaskRunPage>();
  expectTypeOf<Json<core.Explanation>>().toEqualTypeOf<wire.Explanation>();
  expectTypeOf<Json<core.Overview>>().toEqualTypeOf<wire.Overview>();
  expectTypeOf<Json<core.AttemptPage>>().toEqualTypeOf<wire.AttemptPage>();
  expectTypeOf<Json<core.LogPage>>().toEqualTypeOf<wire.LogPage>();
  expectTypeOf<Json<core.LogSearch>>().toEqualTypeOf<wire.LogSearch>();
  expectTypeOf<Json<core.RunPage>>().toEqualTypeOf<wire.RunPage>();
  expectTypeOf<Json<core.RunDetail>>().toEqualTypeOf<wire.RunDetail>();
  expectTypeOf<Json<core.RulesInForce>>().toEqualTypeOf<wire.RulesInForce>();
  expectTypeOf<Json<core.QueueList>>().toEqualTypeOf<wire.QueueList>();
  expectTypeOf<Json<core.ResourcePage>>().toEqualTypeOf<wire.ResourcePage>();
  expectTypeOf<Json<core.ResourceDetail>>().toEqualTypeOf<wire.ResourceDetail>();
  expectTypeOf<Json<core.InstanceList>>().toEqualTypeOf<wire.InstanceList>();
  expectTypeOf<Json<core.InstanceDetail>>().toEqualTypeOf<wire.InstanceDetail>();
  expectTypeOf<Json<core.OperationPreview>>().toEqualTypeOf<wire.OperationPreview>();
  expectTypeOf<Json<core.OperationPage>>().toEqualTypeOf<wire.OperationPage>();
  expectTypeOf<Json<core.OperationItemPage>>().toEqualTypeOf<wire.OperationItemPage>();
});

test("what the contract takes is what the scheduler takes", () => {
  expectTypeOf<Json<core.TaskSpec>>().toEqualTypeOf<wire.TaskSpec>();
  expectTypeOf<keyof wire.TaskRunQuery>().toEqualTypeOf<keyof core.TaskRunFilter>();
  expectTypeOf<Json<core.OperationFilter>>().toEqualTypeOf<wire.OperationFilter>();
  expectTypeOf<keyof wire.OperationQuery>().toEqualTypeOf<keyof core.OperationListFilter>();
  expectTypeOf<keyof wire.OperationItemQuery>().toEqualTypeOf<keyof core.OperationItemFilter>();
  expectTypeOf<keyof wire.RunQuery>().toEqualTypeOf<keyof core.RunFilter>();
  expectTypeOf<keyof wire.AttemptQuery>().toEqualTypeOf<keyof core.AttemptFilter>();
  expectTypeOf<keyof wire.ResourceQuery>().toEqualTypeOf<keyof core.ResourceFilter>();
  expectTypeOf<keyof wire.LogQuery>().toEqualTypeOf<keyof core.LogSearchOptions>();
  expectTypeOf<Json<core.WindowSpec>>().toEqualTypeOf<wire.WindowSpec>();
  expectTypeOf<Json<core.Pausable>>().toEqualTypeOf<wire.Pausable>();
  expectTypeOf<Json<core.Windowed>>().toEqualTypeOf<wire.Windowed>();
});
