// A list of short texts, one on each line.

import { type ReactNode, useState } from "react";
import { Field, TextArea } from "./field";

export const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

type Props = {
  label: ReactNode;
  hint?: ReactNode;
  problem?: ReactNode;
  value: string[];
  onChange: (value: string[]) => void;
  placeholder?: string;
  rows?: number;
};

export function Lines({ label, hint, problem, value, onChange, placeholder, rows = 3 }: Props) {
  // What is typed is kept as it is: a line that was just begun is empty, and a space at the end may become a word.
  const [text, setText] = useState(value.join("\n"));
  const shown = linesOf(text).join("\n") === value.join("\n") ? text : value.join("\n");
  return (
    <Field {...{ label, hint, problem }}>
      {(told) => (
        <TextArea
          {...told}
          rows={rows}
          value={shown}
          placeholder={placeholder}
          spellCheck={false}
          className="font-mono text-sm!"
          onChange={(event) => {
            setText(event.target.value);
            onChange(linesOf(event.target.value));
          }}
        />
      )}
    </Field>
  );
}
