// Asks the worker behind the page, which is started with the first question. A lost session or server is handled as everywhere.

import { refusal } from "../api/client";
import { Unreachable } from "../api/errors";
import { connection, loggedInAgain } from "../api/session";
import { PageMissing, reloadWhenAnswered } from "../stale";
import type { Jobs } from "./jobs";
import type { Done, Order } from "./worker";

let worker: Worker | undefined;
let last = 0;
const asked = new Map<number, { told: (done: Done) => void; fail: (error: Error) => void }>();
let takeBack: (() => void) | undefined;

/** A file that did not come has no words of its own. Where the server answers, it has another version of the page by now. */
async function failureOf(event: ErrorEvent): Promise<Error> {
  if (event.message) return new Error(event.message);
  if (!(await connection.answers())) return new Unreachable();
  takeBack?.();
  takeBack = reloadWhenAnswered();
  return new PageMissing(event);
}

function start(): Worker {
  const started = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  started.addEventListener("message", ({ data }: MessageEvent<Done>) => {
    asked.get(data.id)?.told(data);
    asked.delete(data.id);
  });
  // One that could not be loaded or broke is not asked again: another is started.
  started.addEventListener("error", async (event) => {
    worker = undefined;
    const waiting = [...asked.values()];
    asked.clear();
    const failure = await failureOf(event);
    for (const { fail } of waiting) fail(failure);
  });
  return started;
}

function order(job: string, args: unknown, signal: AbortSignal): Promise<Done> {
  worker ??= start();
  const to = worker;
  const id = ++last;
  return new Promise((resolve, reject) => {
    asked.set(id, { told: resolve, fail: reject });
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
    throw new Unreachable();
  }
  if ("broke" in done) throw new Error(done.broke);
  connection.found();
  if ("value" in done) return done.value as Awaited<ReturnType<Jobs[K]>>;
  if (done.status === 401 && (await loggedInAgain())) return behind(job, args, signal);
  throw await refusal(done.status, done.body);
}
