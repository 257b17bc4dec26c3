// The draft of a tool: what was kept in this browser, or what is stored. A newer stored version is taken over while nothing is
// written here; what is written stays, and is compared when it is saved.

import { useMemo, useState } from "react";
import { writeExact } from "../../exact";
import { bodyOf, type Draft, draftOf, drafts, unreadIn, withStored } from "./draft";
import type { Tool } from "./queries";

const isSame = (a: Draft, b: Draft) => writeExact(bodyOf(a)) === writeExact(bodyOf(b));

/** The draft after it was saved: what was written meanwhile is kept, as a change of what was saved. */
export const rebased = (sent: Draft, now: Draft, after: Tool): Draft =>
  isSame(sent, now) && unreadIn(now).length === 0 ? draftOf(after) : { ...now, version: after.version };

export function useDraft(key: string, original: Draft) {
  const [kept] = useState(() => drafts.read(key));
  const [draft, setDraft] = useState<Draft>(() => (kept ? withStored(kept, original) : original));
  const [restored, setRestored] = useState(kept !== null);
  const [base, setBase] = useState(original);
  if (base !== original) {
    setBase(original);
    const isClean = unreadIn(draft).length === 0 && (isSame(draft, base) || isSame(draft, original));
    if (isClean && original.version !== draft.version) setDraft(original);
  }
  const dirty = useMemo(() => unreadIn(draft).length > 0 || !isSame(draft, original), [draft, original]);
  return { draft, setDraft, restored, setRestored, dirty };
}
