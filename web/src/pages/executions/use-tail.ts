// The calls that come while one looks: asked for after the newest one known, put above it.

import { useEffect, useMemo, useState } from "react";
import { api, got } from "../../api/client";
import { Unreachable } from "../../api/errors";
import { type Execution, type ExecutionFilter, executionsAfter } from "./queries";

const EVERY_MS = 2_000;
/** Above this many the oldest of them are let go: they are in the list when it is asked for again. */
const KEPT = 5_000;

type Tail = { about: string; came: Execution[] };
const NONE: Execution[] = [];

/** Those that came since, newest first, in front of `items`. */
/** `tell` hears why none come, and of nothing once they do again. */
export function useTail(
  on: boolean,
  items: Execution[],
  filter: ExecutionFilter,
  tell?: (trouble: unknown) => void,
): Execution[] {
  const about = JSON.stringify([filter, on]);
  const [tail, setTail] = useState<Tail>({ about, came: NONE });
  // What came under another filter is none of this one's.
  const came = tail.about === about ? tail.came : NONE;
  const newest = came[0]?.id ?? items[0]?.id;
  // Those that have not ended yet are looked at again.
  const running = came.filter((one) => one.status === "started").slice(0, 20);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the filter by what it says
  useEffect(() => {
    if (!on) return;
    const stop = new AbortController();
    const look = async () => {
      try {
        // Without any yet, everything there is counts as new.
        const next = await executionsAfter(newest ?? "00000000-0000-7000-8000-000000000000", filter, stop.signal);
        const ended = await Promise.all(
          running.map(({ id }) =>
            got(api.GET("/api/v1/executions/{id}", { params: { path: { id } }, signal: stop.signal })),
          ),
        );
        if (!stop.signal.aborted) tell?.(undefined);
        if (stop.signal.aborted || (next.length === 0 && ended.every((one) => one.status === "started")))
          return again();
        const known = new Map(ended.map((one) => [one.id, one]));
        setTail({ about, came: [...next.reverse(), ...came.map((one) => known.get(one.id) ?? one)].slice(0, KEPT) });
      } catch (error) {
        // The page says at its top that the server is gone; the next try finds out whether it is back.
        if (!stop.signal.aborted && !(error instanceof Unreachable)) tell?.(error);
        again();
      }
    };
    let timer = setTimeout(look, EVERY_MS);
    const again = () => {
      if (!stop.signal.aborted) timer = setTimeout(look, EVERY_MS);
    };
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [on, newest, about, came, tell]);
  return useMemo(() => {
    if (!on || came.length === 0) return items;
    const seen = new Set(came.map((one) => one.id));
    return [...came, ...items.filter((one) => !seen.has(one.id))];
  }, [on, came, items]);
}
