// The worker itself: does the jobs it is told to, and tells what came of each.

import { readExact } from "../exact";
import { type Get, jobs } from "./jobs";

export type Order = { id: number; job: string; args: unknown } | { id: number; stop: true };
export type Done =
  | { id: number; value: unknown }
  | { id: number; status: number; body: unknown }
  | { id: number; gone: true }
  | { id: number; broke: string };

class Refused extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown,
  ) {
    super();
  }
}

/** The server does not answer; everything else that goes wrong here is a mistake of ours. */
class Gone extends Error {}

const get: Get = async (path, query, signal) => {
  const said = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const url = `${path}?${new URLSearchParams(said.map(([key, value]) => [key, String(value)]))}`;
  const answer = await fetch(url, { signal }).catch(() => Promise.reject(new Gone()));
  if (!answer.ok) throw new Refused(answer.status, await answer.json().catch(() => undefined));
  return readExact(await answer.text()) as never;
};

const all = jobs(get) as Record<string, (args: never, signal: AbortSignal) => Promise<unknown>>;
const running = new Map<number, AbortController>();
const tell = (done: Done) => postMessage(done);

addEventListener("message", async ({ data }: MessageEvent<Order>) => {
  if ("stop" in data) return running.get(data.id)?.abort();
  const { id } = data;
  const stop = new AbortController();
  running.set(id, stop);
  try {
    tell({ id, value: await all[data.job]!(data.args as never, stop.signal) });
  } catch (error) {
    if (error instanceof Refused) tell({ id, status: error.status, body: error.body });
    else if (!stop.signal.aborted) tell(error instanceof Gone ? { id, gone: true } : { id, broke: String(error) });
  } finally {
    running.delete(id);
  }
});
