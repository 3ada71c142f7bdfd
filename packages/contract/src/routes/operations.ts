import { askedSchema, changedSchema } from "../asked.ts";
import {
  operationItemPageSchema,
  operationItemQuerySchema,
  operationPageSchema,
  operationPreviewRequestSchema,
  operationPreviewSchema,
  operationQuerySchema,
  operationRequestSchema,
  operationSchema,
} from "../operation.ts";
import type { GroupedRoute } from "./route.ts";

export const OPERATION_ROUTES: readonly GroupedRoute[] = [
  {
    name: "startOperation",
    method: "POST",
    path: "/api/v1/operations",
    summary:
      "Cancels or retries all that the filter fits: answers when that is recorded, and instances carry it on. An empty filter is refused.",
    body: operationRequestSchema,
    idempotent: true,
    answer: operationSchema,
    status: 201,
  },
  {
    name: "previewOperation",
    method: "POST",
    path: "/api/v1/operations/preview",
    summary: "What an operation would be about at this moment. Changes nothing.",
    body: operationPreviewRequestSchema,
    answer: operationPreviewSchema,
  },
  {
    name: "listOperations",
    method: "GET",
    path: "/api/v1/operations",
    summary: "Operations, newest first, page by page.",
    query: operationQuerySchema,
    answer: operationPageSchema,
  },
  {
    name: "getOperation",
    method: "GET",
    path: "/api/v1/operations/:id",
    summary: "One operation and how far it is. Takes a full id.",
    answer: operationSchema,
  },
  {
    name: "listOperationItems",
    method: "GET",
    path: "/api/v1/operations/:id/items",
    summary: "What it could not do, each with why; the first 1000.",
    query: operationItemQuerySchema,
    answer: operationItemPageSchema,
  },
  {
    name: "abortOperation",
    method: "POST",
    path: "/api/v1/operations/:id/abort",
    summary: "It goes on no further; what it has done stays.",
    body: askedSchema,
    bodyOptional: true,
    answer: changedSchema,
  },
];
