// Which tools of the list are chosen. A row may be older than the choice: it says what changes, not what is chosen after it.

export type Chosen = ReadonlySet<string>;
export type Choose = (next: Chosen | ((before: Chosen) => Chosen)) => void;

export function chosenWith(before: Chosen, name: string, on: boolean): Chosen {
  const next = new Set(before);
  if (on) next.add(name);
  else next.delete(name);
  return next;
}
