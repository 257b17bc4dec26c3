// Which sources somebody may make tools on.

type Source = { name: string; state: string; authors: string };

export const isOpen = (source: Source, isAdmin: boolean) =>
  source.state !== "hidden" && (isAdmin || source.authors === "everyone");
