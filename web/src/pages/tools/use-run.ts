// One run at a time: how long it takes, a way to stop it, and what came of the last one.

import { useCallback, useEffect, useRef, useState } from "react";
import type { Answer } from "./queries";
import { dropAnswer, keepAnswer, keptAnswer } from "./tries";

export type Run = {
  running: boolean;
  /** Seconds since it began. */
  elapsed: number;
  answer?: Answer;
  error?: unknown;
  start: (go: (signal: AbortSignal) => Promise<Answer>) => Promise<Answer | undefined>;
  cancel: () => void;
  /** What came of it is not shown any more, here and when somebody comes back. */
  clear: () => void;
};

/** What was run last under the name is there again. */
export function useRun(keep: string): Run {
  const [state, setState] = useState<{ answer?: Answer; error?: unknown; since?: number }>({
    answer: keptAnswer(keep),
  });
  const [elapsed, setElapsed] = useState(0);
  const stop = useRef<AbortController>(null);
  const { since } = state;
  useEffect(() => {
    if (since === undefined) return;
    const tick = setInterval(() => setElapsed((performance.now() - since) / 1000), 100);
    return () => clearInterval(tick);
  }, [since]);
  useEffect(() => () => stop.current?.abort(), []);
  const start = useCallback(
    async (go: (signal: AbortSignal) => Promise<Answer>) => {
      stop.current?.abort();
      const mine = new AbortController();
      stop.current = mine;
      setElapsed(0);
      setState({ since: performance.now() });
      // What shows the answer comes while the answer does.
      void import("../../ui/result").catch(() => {});
      try {
        const answer = await go(mine.signal);
        if (mine.signal.aborted) return undefined;
        keepAnswer(keep, answer);
        setState({ answer });
        return answer;
      } catch (error) {
        if (!mine.signal.aborted) setState({ error });
        return undefined;
      }
    },
    [keep],
  );
  const cancel = useCallback(() => {
    stop.current?.abort();
    setState({});
  }, []);
  const clear = useCallback(() => {
    dropAnswer(keep);
    cancel();
  }, [keep, cancel]);
  return { running: since !== undefined, elapsed, answer: state.answer, error: state.error, start, cancel, clear };
}
