import { randomUUID } from "node:crypto";
import { env } from "node:process";
import { createScheduler, defineTask } from "@signalbox/core";
import pg from "pg";

const databaseUrl = env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres";
const sendReceipt = defineTask<{ orderId: string }>({
  kind: "send-receipt",
  run: ({ orderId }, { attempt }) => console.log(`receipt for order ${orderId}, attempt ${attempt}`),
});
const scheduler = createScheduler({ databaseUrl, tasks: [sendReceipt] });
await scheduler.migrate();
await scheduler.start();
process.once("SIGTERM", () => void scheduler.stop()); // finishes what runs, then the process ends

const client = new pg.Client(databaseUrl);
await client.connect();
await client.query("CREATE TABLE IF NOT EXISTS orders (id uuid PRIMARY KEY)");

const orderId = randomUUID();
await client.query("BEGIN");
await client.query("INSERT INTO orders VALUES ($1)", [orderId]);
await scheduler.enqueue(sendReceipt.task({ orderId }, { retry: { attempts: 5 } }), { transaction: client });
await client.query("COMMIT"); // the order and its receipt: both are there now, or neither
await client.end();
