// One act on many tools: a few at a time, how far it is, and a way to stop it.

import { useRef, useState } from "react";

export type Going = { ended: number; of: number; isStopping: boolean };

type Result = { done: string[]; failed: unknown[] };

const AT_ONCE = 4;

/** A few at a time, so that hundreds do not wait for each other and the server is not flooded. What has begun comes to its end. */
export async function each(
  names: string[],
  act: (name: string) => Promise<unknown>,
  signal: AbortSignal,
  tell: (ended: number) => void,
): Promise<Result> {
  const done: string[] = [];
  const failed: unknown[] = [];
  const waiting = [...names];
  const worker = async () => {
    for (let name = waiting.shift(); name !== undefined && !signal.aborted; name = waiting.shift()) {
      try {
        await act(name);
        done.push(name);
      } catch (error) {
        failed.push(error);
      }
      tell(done.length + failed.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { done, failed };
}

export function useBulk() {
  const [going, setGoing] = useState<Going>();
  const stopping = useRef<AbortController>(null);
  const run = async (names: string[], act: (name: string) => Promise<unknown>): Promise<Result> => {
    const mine = new AbortController();
    stopping.current = mine;
    const tell = (ended: number) => setGoing({ ended, of: names.length, isStopping: mine.signal.aborted });
    tell(0);
    const result = await each(names, act, mine.signal, tell);
    setGoing(undefined);
    return result;
  };
  const stop = () => {
    stopping.current?.abort();
    setGoing((now) => now && { ...now, isStopping: true });
  };
  return { going, run, stop };
}
