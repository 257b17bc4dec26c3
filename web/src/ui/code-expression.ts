// The colours of an expression: Python's words, texts, numbers and signs. A whole grammar of Python would be dearer than the page.

import { StreamLanguage } from "@codemirror/language";

const WORDS = /^(?:and|or|not|in|is|if|else|for|lambda)$/;
const VALUES = /^(?:True|False|None)$/;

export const expression = () =>
  StreamLanguage.define<{ quotes: string }>({
    startState: () => ({ quotes: "" }),
    token(stream, state) {
      if (!state.quotes) {
        if (stream.eatSpace()) return null;
        if (stream.match(/^#.*/)) return "comment";
        const opening = stream.match(/^[rbfu]{0,2}("""|'''|"|')/i) as RegExpMatchArray | null;
        if (!opening) return plain(stream);
        state.quotes = opening[1]!;
      }
      // A text in single quotes ends with its line.
      while (!stream.eol()) {
        if (stream.match(state.quotes)) {
          state.quotes = "";
          return "string";
        }
        if (stream.next() === "\\") stream.next();
      }
      if (state.quotes.length === 1) state.quotes = "";
      return "string";
    },
    languageData: { commentTokens: { line: "#" }, closeBrackets: { brackets: ["(", "[", "{", "'", '"'] } },
  });

type Stream = { match: (what: RegExp) => unknown; next: () => unknown; current: () => string };

function plain(stream: Stream): string | null {
  if (stream.match(/^(?:0[xX][\da-fA-F_]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][+-]?\d+)?)/)) return "number";
  if (stream.match(/^[\p{L}_][\p{L}\p{N}_]*/u)) {
    const word = stream.current();
    if (WORDS.test(word)) return "keyword";
    return VALUES.test(word) ? "bool" : null;
  }
  if (stream.match(/^(?:\*\*|\/\/|[<>=!]=|[-+*/%<>=&|^~])/)) return "operator";
  stream.next();
  return null;
}
