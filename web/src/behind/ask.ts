// Asks the worker behind the page, which is started with the first question. A lost session or server is handled as everywhere.

import { refusal } from "../api/client";
import { Unreachable } from "../api/errors";
import { connection, loggedInAgain } from "../api/session";
import type { Jobs } from "./jobs";
import type { Done, Order } from "./worker";

let worker: Worker | undefined;
let last = 0;
const asked = new Map<number, (done: Done) => void>();

function start(): Worker {
  const started = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  started.addEventListener("message", ({ data }: MessageEvent<Done>) => {
    asked.get(data.id)?.(data);
    asked.delete(data.id);
  });
  // One that could not be loaded or broke is not asked again: another is started.
  started.addEventListener("error", () => {
    worker = undefined;
    for (const [id, told] of asked) told({ id, gone: true });
    asked.clear();
  });
  return started;
}

function order(job: string, args: unknown, signal: AbortSignal): Promise<Done> {
  worker ??= start();
  const to = worker;
  const id = ++last;
  return new Promise((resolve, reject) => {
    asked.set(id, resolve);
    signal.addEventListener(
      "abort",
      () => {
        asked.delete(id);
        to.postMessage({ id, stop: true } satisfies Order);
        reject(signal.reason);
      },
      { once: true },
    );
    to.postMessage({ id, job, args } satisfies Order);
  });
}

export async function behind<K extends keyof Jobs>(
  job: K,
  args: Parameters<Jobs[K]>[0],
  signal: AbortSignal,
): Promise<Awaited<ReturnType<Jobs[K]>>> {
  const done = await order(job, args, signal);
  if ("gone" in done) {
    connection.lost();
    throw new Unreachable("The server does not answer.");
  }
  connection.found();
  if ("value" in done) return done.value as Awaited<ReturnType<Jobs[K]>>;
  if (done.status === 401 && (await loggedInAgain())) return behind(job, args, signal);
  throw await refusal(done.status, done.body);
}
