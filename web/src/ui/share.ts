// How much of a whole something is, in percent.

const known = new Map<string, Intl.NumberFormat>();

/** Made once for each: a list has a share in every row. */
function format(language: string, digits: number): Intl.NumberFormat {
  const key = `${language} ${digits}`;
  const found = known.get(key) ?? new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: digits });
  known.set(key, found);
  return found;
}

/** Some are not none and not all, however few or many: a single error among thousands is one to look at. */
export function share(part: number, whole: number, language: string, digits = 0): string {
  const told = format(language, digits);
  if (part <= 0 || whole <= 0) return told.format(0);
  if (part >= whole) return told.format(1);
  const least = 0.01 / 10 ** digits;
  if (part / whole < least) return `<${told.format(least)}`;
  return part / whole > 1 - least ? `>${told.format(1 - least)}` : told.format(part / whole);
}
