// An editor in the page for JSON, expressions or plain text. Loaded when it is first shown: see `Code`.

import { json, jsonParseLinter } from "@codemirror/lang-json";
import { linter, lintGutter, setDiagnostics } from "@codemirror/lint";
import type { Extension } from "@codemirror/state";
import { useEffect, useRef } from "react";
import type { CodeProps } from "./code";
import { expression } from "./code-expression";
import { createEditor, putText } from "./code-mirror";

// An empty document is not yet wrong.
const jsonLinter = linter((view) => (view.state.doc.length === 0 ? [] : jsonParseLinter()(view)));

const languages: Record<NonNullable<CodeProps["language"]>, () => Extension> = {
  json: () => [json(), jsonLinter, lintGutter()],
  expression: () => [expression(), lintGutter()],
  text: () => [],
};

export default function CodeEditor({ value, onChange, language = "text", label, readOnly, marks }: CodeProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<ReturnType<typeof createEditor>>(null);
  const told = useRef(onChange);
  told.current = onChange;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text is put into the editor that is there
  useEffect(() => {
    const made = createEditor({
      parent: place.current as HTMLDivElement,
      text: value,
      label,
      readOnly,
      extensions: languages[language](),
      onChange: (text) => told.current?.(text),
    });
    view.current = made;
    return () => made.destroy();
  }, [language, label, readOnly]);
  useEffect(() => {
    if (view.current) putText(view.current, value);
  }, [value]);
  useEffect(() => {
    const made = view.current;
    if (!made || !marks) return;
    const found = marks.map(({ line, column, message }) => {
      const at = made.state.doc.line(Math.min(Math.max(1, line), made.state.doc.lines));
      const from = Math.min(at.from + Math.max(0, column - 1), at.to);
      return { from, to: Math.min(from + 1, at.to), severity: "error" as const, message };
    });
    made.dispatch(setDiagnostics(made.state, found));
  }, [marks]);
  return <div ref={place} className="h-full" />;
}
