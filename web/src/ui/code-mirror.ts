// CodeMirror as all our editors have it: our colours, the page's nonce, Tab that leaves it after Esc.

import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { history, historyKeymap, indentLess, indentMore, standardKeymap, toggleComment } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintKeymap } from "@codemirror/lint";
import { Annotation, EditorState, type Extension } from "@codemirror/state";
import { drawSelection, dropCursor, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import i18next from "i18next";
import { nonce } from "../nonce";

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--syn-keyword)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--syn-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--syn-number)" },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--syn-comment)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.standard(tags.name), tags.propertyName], color: "var(--syn-type)" },
  { tag: tags.operator, color: "var(--syn-op)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", backgroundColor: "var(--panel)", color: "var(--fg)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--fg)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--line)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft)",
  },
  ".cm-placeholder": { color: "var(--muted)" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--fg)",
    border: "1px solid var(--border)",
    borderRadius: "8px",
    boxShadow: "var(--shadow)",
    overflow: "hidden",
  },
  ".cm-tooltip-autocomplete > ul > li": { padding: "3px 8px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "#fff" },
  ".cm-completionDetail": { marginLeft: "10px", fontStyle: "normal" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--fg)" },
});

// What an editor has told and nobody has handed back yet, in its order.
const told = new WeakMap<EditorView, string[]>();
const fromOutside = Annotation.define<boolean>();

/** Puts a text into an editor. One that it told itself a moment ago is older than what somebody typed since, and is left out. */
export function putText(view: EditorView, text: string) {
  const waiting = told.get(view) ?? [];
  const isThere = view.state.doc.toString() === text;
  const at = waiting.indexOf(text);
  told.set(view, isThere ? [] : waiting.slice(at + 1));
  if (isThere || at >= 0) return;
  told.set(view, []);
  view.dispatch({
    changes: { from: 0, to: view.state.doc.length, insert: text },
    annotations: fromOutside.of(true),
  });
}

// Of the many keys that CodeMirror could have, those that people look for here: each brings its code along.
const editingKeys = [
  { key: "Mod-/", run: toggleComment },
  { key: "Mod-]", run: indentMore },
  { key: "Mod-[", run: indentLess },
];

/** The first search brings the searching along; after that its own keys are there. */
function searchFirst(view: EditorView): boolean {
  void import("./code-search").then(({ beginSearch }) => beginSearch(view));
  return true;
}

type Options = {
  parent: HTMLElement;
  text: string;
  label: string;
  readOnly?: boolean;
  extensions?: Extension;
  onChange?: (text: string) => void;
};

export function createEditor({ parent, text, label, readOnly, extensions, onChange }: Options): EditorView {
  const editing: Extension = readOnly
    ? [EditorState.readOnly.of(true), EditorView.editable.of(false), EditorView.contentAttributes.of({ tabindex: "0" })]
    : [history(), indentOnInput(), closeBrackets(), dropCursor(), highlightActiveLine()];
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        // What is more special comes first: it is asked first.
        extensions ?? [],
        EditorView.cspNonce.of(nonce()),
        EditorState.phrases.of({ Completions: i18next.t("proposals") }),
        lineNumbers(),
        drawSelection(),
        bracketMatching(),
        syntaxHighlighting(colours),
        look,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label, role: "textbox", "aria-multiline": "true" }),
        editing,
        keymap.of([
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...lintKeymap,
          { key: "Mod-f", run: searchFirst },
          ...historyKeymap,
          ...standardKeymap,
          ...editingKeys,
        ]),
        EditorView.updateListener.of((update) => {
          // Nobody is told what they put there themselves: it would count as typed.
          const isOwn = !update.transactions.some((one) => one.annotation(fromOutside));
          if (!update.docChanged || !isOwn || !onChange) return;
          const text = update.state.doc.toString();
          told.set(update.view, [...(told.get(update.view) ?? []), text]);
          onChange(text);
        }),
      ],
    }),
  });
}
