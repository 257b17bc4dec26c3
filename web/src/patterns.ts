// Patterns for names of tools, as toolsets and rules have them.

/** `*` stands for any letters, `?` for one. */
export function matcher(pattern: string): (name: string) => boolean {
  const escaped = pattern
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*/g, ".*")
    .replace(/\?/g, ".");
  const whole = new RegExp(`^${escaped}$`, "s");
  return (name) => whole.test(name);
}

/** The longest part of a pattern that stands in every name that it fits. */
export const literalOf = (pattern: string): string =>
  pattern.split(/[*?]+/).reduce((longest, part) => (part.length > longest.length ? part : longest), "");

export const fitting = (pattern: string, names: string[]) => names.filter(matcher(pattern));
