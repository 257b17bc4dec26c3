// An editor for the query of a tool: it knows the tables, the parameters and which of them nobody has declared, and takes
// tables and columns that are dropped into it.

import {
  autocompletion,
  type CompletionContext,
  type CompletionSource,
  startCompletion,
} from "@codemirror/autocomplete";
import {
  keywordCompletionSource,
  PostgreSQL,
  SQLite,
  type SQLNamespace,
  schemaCompletionSource,
} from "@codemirror/lang-sql";
import { type Diagnostic, linter, lintGutter } from "@codemirror/lint";
import { Compartment, type EditorState, Prec, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, keymap, placeholder, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { createEditor, putText } from "../../ui/code-mirror";
import { DRAGGED, IN_NAME, parametersIn } from "./sql-parameters";

export type Known = { name: string; type: string; required: boolean; description?: string };

export type SqlTexts = { label: string; undeclared: (name: string) => string; declare: string; start: string };

export type SqlOptions = {
  parent: HTMLElement;
  text: string;
  dialect: "sqlite" | "postgres";
  texts: SqlTexts;
  onChange: (text: string) => void;
  onRun: () => void;
  onDeclare: (name: string) => void;
};

export type SqlEditor = {
  view: EditorView;
  /** Puts a name where the caret is, with a space where it would touch a word. */
  insert: (text: string) => void;
  setText: (text: string) => void;
  /** What is selected, or nothing. */
  selected: () => string;
  setTables: (tables: SQLNamespace) => void;
  setKnown: (known: readonly Known[]) => void;
};

const setKnown = StateEffect.define<readonly Known[]>();
const knownField = StateField.define<readonly Known[]>({
  create: () => [],
  update: (known, change) => change.effects.findLast((effect) => effect.is(setKnown))?.value ?? known,
});

const isKnown = (state: EditorState, name: string) => state.field(knownField).some((one) => one.name === name);

// PostgreSQL's language knows no `:name`, so parameters are marked here.
const marks = ViewPlugin.fromClass(
  class {
    shown;
    constructor(view: EditorView) {
      this.shown = markedIn(view.state);
    }
    update(update: ViewUpdate) {
      if (update.docChanged || update.startState.field(knownField) !== update.state.field(knownField))
        this.shown = markedIn(update.state);
    }
  },
  { decorations: (plugin) => plugin.shown },
);

function markedIn(state: EditorState) {
  const found = parametersIn(state.doc.toString()).map(({ name, from, to }) =>
    Decoration.mark({ class: isKnown(state, name) ? "cm-parameter" : "cm-parameter cm-unknown" }).range(from, to),
  );
  return Decoration.set(found);
}

const BEFORE_NAME = new RegExp(String.raw`(?:(?<!${IN_NAME}|[:\]]):|\{\{\s*)${IN_NAME}*$`, "u");
const NAME = new RegExp(`^${IN_NAME}*$`, "u");
/** A colon or braces that were just typed, where a name may follow. */
const BEGINS_NAME = /(?:^|[^:\]\p{Alphabetic}\p{N}_]):$|\{\{$/u;

/** In the place of a parameter only parameters are proposed. */
export function proposeParameters(context: CompletionContext) {
  const match = context.matchBefore(BEFORE_NAME);
  if (!match) return null;
  const braces = match.text.startsWith("{{");
  const from = match.from + (/^(:|\{\{\s*)/.exec(match.text)?.[0].length ?? 0);
  const options = context.state.field(knownField).map((one) => ({
    label: one.name,
    type: "variable",
    detail: one.type + (one.required ? " *" : ""),
    info: one.description,
    apply: (view: EditorView, _: unknown, start: number, end: number) => {
      const closed = view.state.sliceDoc(end, end + 2) === "}}";
      const insert = one.name + (braces && !closed ? "}}" : "");
      const caret = start + insert.length + (braces && closed ? 2 : 0);
      view.dispatch({
        changes: { from: start, to: end, insert },
        selection: { anchor: caret },
        userEvent: "input.complete",
      });
    },
  }));
  return { from, options, validFor: NAME };
}

const unlessParameter =
  (source: CompletionSource): CompletionSource =>
  (context) =>
    context.matchBefore(BEFORE_NAME) ? null : source(context);

function language(dialect: SqlOptions["dialect"], schema: SQLNamespace) {
  const sql = dialect === "postgres" ? PostgreSQL : SQLite;
  const config = { dialect: sql, schema, defaultSchema: dialect === "postgres" ? "public" : undefined };
  // A request by key asks every source at once, so the sources are named instead of left to the language.
  const override = [
    proposeParameters,
    unlessParameter(schemaCompletionSource(config)),
    unlessParameter(keywordCompletionSource(sql, true)),
  ];
  return [sql.language.extension, autocompletion({ activateOnTypingDelay: 5, override })];
}

const declared = ({ texts, onDeclare }: SqlOptions) =>
  linter(
    (view) =>
      parametersIn(view.state.doc.toString())
        .filter((one) => !isKnown(view.state, one.name))
        .map(
          ({ name, from, to }): Diagnostic => ({
            from,
            to,
            severity: "error",
            message: texts.undeclared(name),
            actions: [{ name: texts.declare, apply: () => onDeclare(name) }],
          }),
        ),
    { delay: 200, needsRefresh: (update) => update.startState.field(knownField) !== update.state.field(knownField) },
  );

const isWord = (letter: string) => /[\p{Alphabetic}\p{N}_"]/u.test(letter);

function insertAt(view: EditorView, text: string, from: number, to = from) {
  const before = view.state.sliceDoc(Math.max(0, from - 1), from);
  const after = view.state.sliceDoc(to, to + 1);
  const insert = (before && isWord(before) ? " " : "") + text + (after && isWord(after) ? " " : "");
  const anchor = from + insert.length;
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor },
    scrollIntoView: true,
    userEvent: "input.drop",
  });
  view.focus();
}

const dropped = EditorView.domEventHandlers({
  dragover(event) {
    if (!event.dataTransfer?.types.includes(DRAGGED)) return false;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    return false;
  },
  drop(event, view) {
    const text = event.dataTransfer?.getData(DRAGGED);
    if (!text) return false;
    event.preventDefault();
    insertAt(view, text, view.posAtCoords({ x: event.clientX, y: event.clientY }) ?? view.state.doc.length);
    return true;
  },
});

const look = EditorView.theme({
  ".cm-parameter": {
    backgroundColor: "var(--accent-soft)",
    color: "var(--accent-text)",
    borderRadius: "4px",
    padding: "1px 2px",
  },
  ".cm-unknown": { backgroundColor: "var(--danger-soft)", color: "var(--danger)" },
});

const runs = (run: () => void) => () => {
  run();
  return true;
};

export function createSqlEditor(options: SqlOptions): SqlEditor {
  const tables = new Compartment();
  const view = createEditor({
    parent: options.parent,
    text: options.text,
    label: options.texts.label,
    onChange: options.onChange,
    extensions: [
      Prec.highest(keymap.of([{ key: "Mod-Enter", run: runs(options.onRun) }])),
      knownField,
      tables.of(language(options.dialect, {})),
      marks,
      declared(options),
      lintGutter(),
      dropped,
      look,
      placeholder(options.texts.start),
      // Only letters begin a completion by themselves; here `:` and `{{` do, too.
      EditorView.updateListener.of((update) => {
        if (!update.transactions.some((one) => one.isUserEvent("input.type"))) return;
        const head = update.state.selection.main.head;
        if (BEGINS_NAME.test(update.state.sliceDoc(Math.max(0, head - 2), head))) startCompletion(update.view);
      }),
    ],
  });
  return {
    view,
    insert: (text) => insertAt(view, text, view.state.selection.main.from, view.state.selection.main.to),
    setText: (text) => putText(view, text),
    selected: () => view.state.sliceDoc(view.state.selection.main.from, view.state.selection.main.to),
    setTables: (schema) => view.dispatch({ effects: tables.reconfigure(language(options.dialect, schema)) }),
    setKnown: (known) => view.dispatch({ effects: setKnown.of(known) }),
  };
}
