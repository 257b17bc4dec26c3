// Looking for words in texts that are already here.

/** Whether every word of the search stands in one of the texts. */
export function fits(search: string | undefined, ...texts: Array<string | null | undefined>): boolean {
  const all = texts.join("\n").toLowerCase();
  return (search ?? "")
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
