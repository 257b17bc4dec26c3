// Follows a run: its events from the beginning, gone on with after a break, and drawn at most once for each frame.

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { refusal, send } from "../../api/client";
import { readExact } from "../../exact";
import { readEvents } from "./sse";
import { EMPTY, type RunEvent, type Transcript, told } from "./transcript";

const AGAIN_MS = [500, 1_000, 2_000, 5_000];

/** Reads the events of a run until it is over or nobody wants them any more; a break is gone on from. */
export async function followRun(id: string, tell: (event: RunEvent) => void, signal: AbortSignal): Promise<void> {
  let last: string | null = null;
  let isOver = false;
  for (let tries = 0; !isOver && !signal.aborted; tries += 1) {
    try {
      const headers: HeadersInit = last ? { "Last-Event-ID": last } : {};
      const url = new URL(`/api/v1/runs/${encodeURIComponent(id)}/events`, location.origin);
      const answer = await send(new Request(url, { headers, signal }));
      if (!answer.ok) throw await refusal(answer.status, await answer.json().catch(() => undefined));
      await readEvents(answer.body!, (event) => {
        last = event.id ?? last;
        tries = 0;
        isOver ||= event.event === "done" || event.event === "error";
        tell({ ...event, data: readExact(event.data) as Record<string, unknown> });
      });
    } catch (error) {
      // A refusal stays one; a server that went away comes back.
      if (error instanceof Error && "status" in error && Number(error.status) < 500) throw error;
    }
    if (isOver || signal.aborted) return;
    await new Promise((go) => setTimeout(go, AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)]));
  }
}

export type Followed = Transcript & { error: unknown; events: RunEvent[] };

const NOTHING: Followed = { ...EMPTY, error: null, events: [] };

export function useRun(id: string | undefined): Followed {
  const [followed, setFollowed] = useState<Followed>(NOTHING);
  const queries = useQueryClient();
  useEffect(() => {
    setFollowed(NOTHING);
    if (!id) return;
    const stop = new AbortController();
    let waiting: RunEvent[] = [];
    let frame = 0;
    const draw = () => {
      frame = 0;
      const events = waiting;
      waiting = [];
      setFollowed((before) => ({ ...told(before, events), error: null, events: [...before.events, ...events] }));
      // Lists elsewhere show its state.
      if (events.some(({ event }) => ["needs_input", "answered", "done", "error"].includes(event))) {
        void queries.invalidateQueries({ queryKey: ["runs"] });
      }
    };
    followRun(
      id,
      (event) => {
        waiting.push(event);
        // A tab in the background draws no frames, and needs none: it catches up when it is looked at.
        frame ||= requestAnimationFrame(draw);
      },
      stop.signal,
    ).catch((error) => !stop.signal.aborted && setFollowed((before) => ({ ...before, error })));
    return () => {
      stop.abort();
      cancelAnimationFrame(frame);
    };
  }, [id, queries]);
  return followed;
}
