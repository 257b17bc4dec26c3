// An editor in the page for JSON, Python or plain text. Loaded when it is first shown: see `Code`.

import { json, jsonParseLinter } from "@codemirror/lang-json";
import { python } from "@codemirror/lang-python";
import { linter, lintGutter } from "@codemirror/lint";
import type { Extension } from "@codemirror/state";
import { useEffect, useRef } from "react";
import type { CodeProps } from "./code";
import { createEditor } from "./code-mirror";

// An empty document is not yet wrong.
const jsonLinter = linter((view) => (view.state.doc.length === 0 ? [] : jsonParseLinter()(view)));

const languages: Record<NonNullable<CodeProps["language"]>, () => Extension> = {
  json: () => [json(), jsonLinter, lintGutter()],
  python: () => python(),
  text: () => [],
};

export default function CodeEditor({ value, onChange, language = "text", label, readOnly }: CodeProps) {
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
    const made = view.current;
    if (!made || made.state.doc.toString() === value) return;
    made.dispatch({ changes: { from: 0, to: made.state.doc.length, insert: value } });
  }, [value]);
  return <div ref={place} className="h-full" />;
}
