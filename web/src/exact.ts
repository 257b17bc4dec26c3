// JSON read and written exactly: a whole number that JavaScript would round becomes a bigint, and a number again when it is
// written. Everything else is what JSON.parse and JSON.stringify make of it, at their speed where there is no such number.

/** Stands in a text for as long as it is on its way; nobody can have typed it. */
const MARK = `\ue000${Math.random().toString(36).slice(2)}:`;
const WRITTEN = new RegExp(`"${MARK}(-?\\d+)"`, "g");
// A number in the place of a name is none: it must not become a text that could be one.
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?:\s*:)?/g;

const isTooLong = (token: string) => /^-?[1-9]\d*$/.test(token) && !Number.isSafeInteger(Number(token));

export function readExact(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  let isMarked = false;
  const marked = text.replace(TOKENS, (token) => {
    if (!isTooLong(token)) return token;
    isMarked = true;
    return `"${MARK}${token}"`;
  });
  if (!isMarked) return JSON.parse(text);
  try {
    return JSON.parse(marked, (_, value: unknown) =>
      typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
    );
  } catch {
    // What is wrong with it, said of the text as it was given.
    return JSON.parse(text);
  }
}

/** As JSON.stringify: nothing comes of what JSON has no word for. */
export function writeExact(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, null, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const marked = (_: string, one: unknown) => (typeof one === "bigint" ? MARK + one : one);
    return JSON.stringify(value, marked, indent).replace(WRITTEN, "$1");
  }
}
