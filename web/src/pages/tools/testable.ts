// Whether saved tests may run without being asked for: each is a real call of the tool.

import { writeExact } from "../../exact";
import { bodyOf, type Draft, isSealed, seenToRead } from "./draft";
import { writes } from "./writing";

/** It only reads or computes, as far as can be seen or as its author says. */
export function isHarmless(draft: Draft): boolean {
  if (writes(draft)) return false;
  const { read_only: says } = (draft.rest.annotations ?? {}) as { read_only?: boolean };
  return says ?? seenToRead(draft.kind, draft.config) ?? false;
}

export const needsApproval = (approval: unknown) => approval === true || approval === "always";

/** Whether its tests can run as they stand: not where each call waits for somebody, nor while it is switched off. */
export const isTestable = (draft: Draft): boolean =>
  draft.tests.length > 0 && draft.is_active && !needsApproval(draft.rest.approval);

/** Whether what is not saved can be tried: a sealed secret only goes out with what is stored. */
export const canTry = (draft: Draft): boolean => isTestable(draft) && !isSealed(draft);

// What no call depends on.
const WORDS = ["name", "description", "description_user", "examples", "is_public", "annotations", "rate_limit"];

/** Whether a change may have another outcome of the tests. */
export function matters(before: Draft, after: Draft): boolean {
  const rest = (draft: Draft) =>
    writeExact(Object.entries(bodyOf(draft)).filter(([member]) => !WORDS.includes(member)));
  return rest(before) !== rest(after);
}
