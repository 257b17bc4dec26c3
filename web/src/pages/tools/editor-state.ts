// What the steps of the editor share: the draft, what the server says of it while it is written, and what is kept aside.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { api, got } from "../../api/client";
import { type Problem, problemAt, problemsOf } from "../../api/errors";
import { readExact, writeExact } from "../../exact";
import { bodyOf, type Draft, isFilled } from "./draft";
import type { Tool } from "./queries";

export type Change = Partial<Draft> | ((draft: Draft) => Partial<Draft>);

export type StepProps = {
  draft: Draft;
  /** What is different, or how to make it of the draft as it is then. */
  change: (some: Change) => void;
  /** What the server says of a member of the definition, once there is something to say. */
  problem: (path: string) => string | undefined;
  /** Whether there is something that is not saved. */
  dirty: boolean;
  /** Under which name what is tried with it is kept. */
  keep: string;
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

type Body = Record<string, unknown>;
/** A definition to be checked, and whether there is any logic in it. */
type Asked = { body: Body; isWhole: boolean };

/** A definition that is not complete yet is checked all the same, with something in the place of what is missing. */
function checkable(draft: Draft): Body {
  const body = bodyOf(draft);
  return {
    ...body,
    name: body.name || "untitled",
    description: draft.description.trim() ? draft.description : "…",
  };
}

const told = (error: unknown): Checked => ({ problems: problemsOf(error) });

async function ask(body: Body, effect: boolean, stored: string, signal: AbortSignal) {
  const query = { dry_run: true, ...(effect ? { effect: "if_known" as const } : {}) };
  return stored === ""
    ? got(api.POST("/api/v1/tools", { params: { query }, body: body as never, signal }))
    : got(api.PUT("/api/v1/tools/{name}", { params: { path: { name: stored }, query }, body: body as never, signal }));
}

/** A tool is chosen by its name, its description and its parameters: what it would do is not needed to try that. */
const chosenBy = ({ name, description, input_schema, examples }: Body): Body => ({
  ...{ name, description, input_schema, examples },
  ...{ kind: "expression", config: { expression: "1" } },
});

/** What becomes of the gold prompts, with something in the place of logic that is missing or wrong. */
async function effectAlone(body: Body, signal: AbortSignal): Promise<Checked> {
  const tool = await ask(chosenBy(body), true, "", signal);
  return { tool: { ...tool, trouble: null }, problems: [], noGold: !tool.effect };
}

/** `stored` is the name a tool already has, or empty. `body` is checked as it is, unless there is no logic in it yet. */
export async function checked(
  { body, isWhole }: Asked,
  stored: string,
  effect: boolean,
  signal: AbortSignal,
): Promise<Checked> {
  try {
    if (!isWhole) return await effectAlone(body, signal);
    const tool = await ask(body, effect, stored, signal);
    return { tool, problems: [], noGold: effect && !tool.effect };
  } catch (error) {
    if (signal.aborted) throw error;
    const bad = problemAt(error, "effect");
    if (bad && isWhole) {
      // Gold prompts that cannot be read say nothing about the tool.
      const without = ask(body, false, stored, signal).then((tool) => ({ tool, problems: [] }), told);
      return { ...(await without), badGold: bad };
    }
    if (bad || !isWhole || !effect || stored !== "") return { ...told(bad ? null : error), badGold: bad };
    // Logic that is wrong keeps nobody from seeing what the description does.
    const alone = await effectAlone(body, signal).catch((): Partial<Checked> => ({}));
    return { ...alone, ...told(error) };
  }
}

/** What the server would say to this definition; nothing is stored. `effect` also asks what it does to the gold prompts. */
export function useCheck(
  draft: Draft,
  stored: string,
  effect: boolean,
  may: boolean,
): Checked & { isFetching: boolean } {
  const isWhole = isFilled(draft, "logic");
  const asked = useMemo(() => writeExact({ body: checkable(draft), isWhole } satisfies Asked), [draft, isWhole]);
  const settled = useSettled(asked, 400);
  const isWanted = isWhole || (effect && stored === "" && isFilled(draft, "basics"));
  const found = useQuery({
    queryKey: ["tools", "check", stored, settled, effect],
    placeholderData: keepPreviousData,
    // What is not written yet needs nobody to say that it is missing.
    enabled: may && isWanted && isFilled(draft, "parameters"),
    staleTime: 10_000,
    gcTime: 30_000,
    retry: false,
    queryFn: ({ signal }) => checked(readExact(settled) as Asked, stored, effect, signal),
  });
  return { ...(found.data ?? { problems: [] }), isFetching: found.isFetching };
}
