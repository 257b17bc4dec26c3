// A list of short texts, one on each line.

import { type ReactNode, useState } from "react";
import { Field, TextArea } from "./field";

export const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** Names and patterns, which have neither: commas part them as lines do. */
export const namesOf = (text: string): string[] => linesOf(text.replaceAll(",", "\n"));

const asJson = (line: string): string | undefined => {
  if (!/^".*"$/.test(line)) return undefined;
  try {
    return JSON.parse(line) as string;
  } catch {
    return undefined;
  }
};

/** Lines of which each letter counts, also spaces and lines that are empty. What is in quotation marks is a text of JSON. */
export function exactLinesOf(text: string): string[] {
  const lines = text.split("\n");
  // The line that Enter has just begun is nothing yet.
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => asJson(line) ?? line);
}

/** What cannot stand on a line as it is, because it has several or would be read as something else, is written as JSON. */
export const exactText = (values: string[]): string =>
  values
    .map((value, at) => {
      const isLastEmpty = value === "" && at === values.length - 1;
      return /[\n\r]/.test(value) || isLastEmpty || asJson(value) !== undefined ? JSON.stringify(value) : value;
    })
    .join("\n");

/** The text of a list while somebody types: a line that was just begun is empty, and a space at the end may become a word. */
export function useTypedLines(
  value: string[],
  onChange: (value: string[]) => void,
  read: (text: string) => string[],
  written: string,
): [string, (text: string) => void] {
  const [text, setText] = useState(written);
  const shown = JSON.stringify(read(text)) === JSON.stringify(value) ? text : written;
  const write = (next: string) => {
    setText(next);
    onChange(read(next));
  };
  return [shown, write];
}

type Props = {
  label: ReactNode;
  hint?: ReactNode;
  problem?: ReactNode;
  value: string[];
  onChange: (value: string[]) => void;
  placeholder?: string;
  rows?: number;
  /** Nothing is trimmed or left out: for what is handed on letter by letter. */
  exact?: boolean;
};

export function Lines({ label, hint, problem, value, onChange, placeholder, rows = 3, exact }: Props) {
  const read = exact ? exactLinesOf : linesOf;
  const [shown, write] = useTypedLines(value, onChange, read, exact ? exactText(value) : value.join("\n"));
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
          onChange={(event) => write(event.target.value)}
        />
      )}
    </Field>
  );
}
