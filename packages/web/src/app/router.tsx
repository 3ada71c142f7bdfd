/** Every address of the dashboard. What a page shows is in its address, so that a copied address shows the same. */

import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { readTaskRunSearch } from "../features/task-runs/task-run-search.ts";
import { NotFound } from "./not-found.tsx";
import { PageProblem } from "./page-problem.tsx";
import { Shell } from "./shell.tsx";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const overview = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: lazyRouteComponent(
    async () => await import("../features/overview/overview-page.tsx"),
    "OverviewPage",
  ),
});

const taskRuns = createRoute({
  getParentRoute: () => root,
  path: "/tasks",
  validateSearch: readTaskRunSearch,
  component: lazyRouteComponent(
    async () => await import("../features/task-runs/task-runs-page.tsx"),
    "TaskRunsPage",
  ),
});

const taskRun = createRoute({
  getParentRoute: () => root,
  path: "/task-runs/$taskRunId",
  component: lazyRouteComponent(
    async () => await import("../features/task-run/task-run-page.tsx"),
    "TaskRunPage",
  ),
});

const operations = createRoute({
  getParentRoute: () => root,
  path: "/operations",
  validateSearch: (search: Record<string, unknown>): { readonly before?: string } =>
    typeof search["before"] === "string" && search["before"] !== "" ? { before: search["before"] } : {},
  component: lazyRouteComponent(
    async () => await import("../features/operations/operations-page.tsx"),
    "OperationsPage",
  ),
});

const operation = createRoute({
  getParentRoute: () => root,
  path: "/operations/$operationId",
  component: lazyRouteComponent(
    async () => await import("../features/operations/operation-page.tsx"),
    "OperationPage",
  ),
});

const resources = createRoute({
  getParentRoute: () => root,
  path: "/resources",
  validateSearch: (search: Record<string, unknown>): { readonly search?: string } =>
    typeof search["search"] === "string" && search["search"] !== "" ? { search: search["search"] } : {},
  component: lazyRouteComponent(
    async () => await import("../features/resources/resources-page.tsx"),
    "ResourcesPage",
  ),
});

const resource = createRoute({
  getParentRoute: () => root,
  path: "/resources/$name",
  component: lazyRouteComponent(
    async () => await import("../features/resources/resource-page.tsx"),
    "ResourcePage",
  ),
});

const cluster = createRoute({
  getParentRoute: () => root,
  path: "/cluster",
  component: lazyRouteComponent(
    async () => await import("../features/cluster/cluster-page.tsx"),
    "ClusterPage",
  ),
});

const preferences = createRoute({
  getParentRoute: () => root,
  path: "/preferences",
  component: lazyRouteComponent(
    async () => await import("../features/preferences/preferences-page.tsx"),
    "PreferencesPage",
  ),
});

const routeTree = root.addChildren([
  overview,
  taskRuns,
  taskRun,
  operations,
  operation,
  resources,
  resource,
  cluster,
  preferences,
]);

export function createAppRouter() {
  return createRouter({
    routeTree,
    // The server puts its base path into the page; without one this is "/".
    basepath: new URL(document.baseURI).pathname,
    defaultPreload: "intent",
    defaultErrorComponent: PageProblem,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
