// The colours of an expression: Python's words, texts, numbers and signs. A grammar of Python, and even what reads languages
// without one, would be dearer than all else that an expression needs; and it is short.

import { indentService, indentUnit } from "@codemirror/language";
import { EditorState, type Extension } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";

type Kind = "comment" | "string" | "number" | "keyword" | "operator" | "value" | "name";
export type Token = { from: number; to: number; kind: Kind };

// A text that is not closed ends with its line; one in three quotation marks ends where it ends.
const TOKENS = new RegExp(
  [
    /(?<comment>#.*)/u,
    /(?<string>\b[rbfuRBFU]{1,2}(?=["'])|)(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)/u,
    /(?<number>\b0[xX][\da-fA-F_]+|(?:\b\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)/u,
    /(?<name>[\p{L}_][\p{L}\p{N}_]*)/u,
    /(?<operator>\*\*|\/\/|[<>=!]=|[-+*/%<>=&|^~])/u,
  ]
    .map((one) => one.source)
    .join("|"),
  "gu",
);
const WORDS =
  /^(?:and|or|not|in|is|if|elif|else|for|while|break|continue|pass|def|return|lambda|global|nonlocal|del|assert|try|except|finally|raise|with|as|from|import|class|yield)$/;
const VALUES = /^(?:True|False|None)$/;

function kindOf(groups: Record<string, string | undefined>): Kind {
  const { name } = groups;
  if (name !== undefined) return WORDS.test(name) ? "keyword" : VALUES.test(name) ? "value" : "name";
  return (["comment", "number", "operator"] as const).find((kind) => groups[kind] !== undefined) ?? "string";
}

export const tokensOf = (text: string): Token[] =>
  [...text.matchAll(TOKENS)].map((found) => ({
    from: found.index,
    to: found.index + found[0].length,
    kind: kindOf(found.groups ?? {}),
  }));

const colours: Partial<Record<Kind, string>> = {
  comment: "var(--syn-comment)",
  string: "var(--syn-string)",
  number: "var(--syn-number)",
  value: "var(--syn-number)",
  keyword: "var(--syn-keyword)",
  operator: "var(--syn-op)",
};

const look = EditorView.baseTheme(
  Object.fromEntries(Object.entries(colours).map(([kind, color]) => [`.cm-expression-${kind}`, { color }])),
);

const marked = (text: string) =>
  Decoration.set(
    tokensOf(text)
      .filter(({ kind }) => kind in colours)
      .map(({ from, to, kind }) => Decoration.mark({ class: `cm-expression-${kind}` }).range(from, to)),
  );

const marks = ViewPlugin.fromClass(
  class {
    shown;
    constructor(view: EditorView) {
      this.shown = marked(view.state.doc.toString());
    }
    update(update: ViewUpdate) {
      if (update.docChanged) this.shown = marked(update.state.doc.toString());
    }
  },
  { decorations: (plugin) => plugin.shown },
);

const data = { commentTokens: { line: "#" }, closeBrackets: { brackets: ["(", "[", "{", "'", '"'] } };

/** A line behind a colon stands further in, every other as the one before it. */
const indented = indentService.of((context, at) => {
  const before = context.lineIndent(at, -1);
  return /:\s*(#.*)?$/.test(context.lineAt(at, -1).text) ? before + context.unit : before;
});

export const expression = (): Extension => [
  marks,
  look,
  indented,
  indentUnit.of("    "),
  EditorState.languageData.of(() => [data]),
];
