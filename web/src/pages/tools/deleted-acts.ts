// Which tools are deleted now, from what the audit log says of deleting and bringing back.

export type Act = { seq: number; at: string; actor: string; target: string; before?: unknown; after?: unknown };
export type Deleted = { id: string; name: string; at: string; actor: string };

const idOf = (...said: unknown[]): string | undefined =>
  said.map((one) => (one as { id?: string } | null | undefined)?.id).find(Boolean);

const nameOf = (act: Act) => act.target.replace(/^tool:/, "");

/** The newest first. One that was brought back is deleted again only by a later act. */
export function deletedOf(removals: Act[], returns: Act[]): Deleted[] {
  const back = new Map<string, number>();
  for (const act of returns) {
    const key = idOf(act.after, act.before) ?? nameOf(act);
    back.set(key, Math.max(act.seq, back.get(key) ?? 0));
  }
  const seen = new Set<string>();
  return removals
    .toSorted((a, b) => b.seq - a.seq)
    .flatMap((act) => {
      const name = nameOf(act);
      const id = idOf(act.before) ?? name;
      const isBack = Math.max(back.get(id) ?? 0, back.get(name) ?? 0) > act.seq;
      if (seen.has(id) || isBack) return [];
      seen.add(id);
      return [{ id, name, at: act.at, actor: act.actor }];
    });
}
