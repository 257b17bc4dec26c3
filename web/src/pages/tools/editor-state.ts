// What the steps of the editor share: the draft, what the server says of it while it is written, and what is kept aside.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { api, got } from "../../api/client";
import { type Problem, problemAt, problemsOf } from "../../api/errors";
import { bodyOf, type Draft, isFilled } from "./draft";
import type { Tool } from "./queries";

export type StepProps = {
  draft: Draft;
  change: (some: Partial<Draft>) => void;
  /** What the server says of a member of the definition, once there is something to say. */
  problem: (path: string) => string | undefined;
  /** Whether there is something that is not saved. */
  dirty: boolean;
};

export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const later = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(later);
  }, [value, ms]);
  return settled;
}

export type Checked = {
  tool?: Tool;
  problems: Problem[];
  /** There are no gold prompts, or they cannot be read, and why. */
  noGold?: boolean;
  badGold?: string;
};

/** A definition that is not complete yet is checked all the same, with something in the place of what is missing. */
function checkable(draft: Draft): Record<string, unknown> {
  const body = bodyOf(draft);
  return {
    ...body,
    name: body.name || "untitled",
    description: draft.description.trim() ? draft.description : "…",
  };
}

const told = (error: unknown): Checked => ({ problems: problemsOf(error) });

async function ask(draft: Draft, body: Record<string, unknown>, effect: boolean, stored: string, signal: AbortSignal) {
  const query = { dry_run: true, ...(effect ? { effect: "if_known" as const } : {}) };
  return draft.version === 0
    ? got(api.POST("/api/v1/tools", { params: { query }, body: body as never, signal }))
    : got(api.PUT("/api/v1/tools/{name}", { params: { path: { name: stored }, query }, body: body as never, signal }));
}

/** What the server would say to this definition; nothing is stored. `effect` also asks what it does to the gold prompts. */
export function useCheck(
  draft: Draft,
  stored: string,
  effect: boolean,
  may: boolean,
): Checked & { isFetching: boolean } {
  const body = useMemo(() => JSON.stringify(checkable(draft)), [draft]);
  const settled = useSettled(body, 400);
  const found = useQuery({
    queryKey: ["tools", "check", stored, settled, effect],
    placeholderData: keepPreviousData,
    // What is not written yet needs nobody to say that it is missing.
    enabled: may && isFilled(draft, "logic") && isFilled(draft, "parameters"),
    staleTime: 10_000,
    gcTime: 30_000,
    retry: false,
    queryFn: async ({ signal }): Promise<Checked> => {
      const sent = JSON.parse(settled) as Record<string, unknown>;
      try {
        const tool = await ask(draft, sent, effect, stored, signal);
        return { tool, problems: [], noGold: effect && !tool.effect };
      } catch (error) {
        if (signal.aborted) throw error;
        const bad = problemAt(error, "effect");
        if (!bad) return told(error);
        // Gold prompts that cannot be read say nothing about the tool.
        const checked = ask(draft, sent, false, stored, signal).then((tool) => ({ tool, problems: [] }), told);
        return { ...(await checked), badGold: bad };
      }
    },
  });
  return { ...(found.data ?? { problems: [] }), isFetching: found.isFetching };
}
