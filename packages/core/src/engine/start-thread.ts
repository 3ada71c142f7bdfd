import { Worker } from "node:worker_threads";

/**
 * Starts a thread from a file of this package: `.js` from the build, `.ts` from the sources. The compiler
 * does not rewrite the extension inside `new URL`, and Node 20 cannot load TypeScript in a thread by itself.
 */
export function startThread(name: string, workerData: unknown): Worker {
  if (!import.meta.url.endsWith(".ts")) {
    return new Worker(new URL(`./${name}.js`, import.meta.url), { workerData, name });
  }
  const tsx = JSON.stringify(import.meta.resolve("tsx/esm/api"));
  const file = JSON.stringify(new URL(`./${name}.ts`, import.meta.url).href);
  const text = `import(${tsx}).then(({ register }) => { register(); return import(${file}); })`;
  return new Worker(text, { eval: true, workerData, name });
}
