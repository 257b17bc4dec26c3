// Which operations of a document are taken, and what became of them.

import type { ImportedTool, OpenApiImported } from "../../api/schema";

/** As the server is told which are meant. */
export const placeOf = (tool: Pick<ImportedTool, "method" | "path">) => `${tool.method} ${tool.path}`;

const READS = ["GET", "HEAD"];

/** What is chosen before anybody chose: nothing that may change or destroy something. */
export const firstPicks = (found: OpenApiImported) =>
  new Set(found.tools.filter((tool) => READS.includes(tool.method.toUpperCase())).map(placeOf));

/** The names of secrets that are not set and that a tool refers to. */
export function missingOf(tool: ImportedTool, found: OpenApiImported): string[] {
  const text = JSON.stringify((tool.definition as { auth_config?: unknown }).auth_config ?? null);
  return found.secrets
    .filter((secret) => !secret.is_set && text.includes(`{"$secret":${JSON.stringify(secret.name)}}`))
    .map((secret) => secret.name);
}

export type Filter = { text: string; method: string };

export const shownOf = (found: OpenApiImported, { text, method }: Filter) => {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return found.tools.filter(
    (tool) =>
      (!method || tool.method.toUpperCase() === method) &&
      words.every((word) => `${tool.name} ${tool.path}`.toLowerCase().includes(word)),
  );
};

/** What became of each operation so far, by its place: also over several times. */
export const madeWith = (before: Record<string, ImportedTool>, now: OpenApiImported): Record<string, ImportedTool> => ({
  ...before,
  ...Object.fromEntries(now.tools.map((tool) => [placeOf(tool), tool])),
});

export const isMade = (tool: ImportedTool | undefined) => !!tool && tool.outcome !== "failed";

/** Those that can be taken and are: not what was made already, nor what cannot be made. */
export const takenOf = (found: OpenApiImported, picked: ReadonlySet<string>, made: Record<string, ImportedTool>) =>
  found.tools
    .filter((tool) => tool.outcome !== "failed")
    .map(placeOf)
    .filter((place) => picked.has(place) && !isMade(made[place]));
