// A list of names and patterns of tools, one on each line or with commas between them. What is being typed is completed with tools
// that are there.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useDeferredValue, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { toolSearchQuery } from "../api/tool-search";
import { Field, TextArea } from "./field";
import { namesOf, useTypedLines } from "./lines";

const OFFERED = 8;

type Props = {
  label: ReactNode;
  hint?: ReactNode;
  problem?: ReactNode;
  value: string[];
  onChange: (value: string[]) => void;
  placeholder?: string;
  rows?: number;
};

/** The name that the caret stands in: from where it begins to where it ends. */
export function nameAt(text: string, caret: number): { from: number; to: number } {
  const before = text.slice(0, caret);
  const from = Math.max(before.lastIndexOf("\n"), before.lastIndexOf(",")) + 1;
  const rest = /[\n,]/.exec(text.slice(caret))?.index ?? text.length - caret;
  return { from: from + (/^ */.exec(text.slice(from, caret))?.[0].length ?? 0), to: caret + rest };
}

export function ToolLines({ label, hint, problem, value, onChange, placeholder, rows = 3 }: Props) {
  const { t } = useTranslation();
  const box = useRef<HTMLTextAreaElement>(null);
  const [shown, write] = useTypedLines(value, onChange, namesOf, value.join("\n"));
  const [caret, setCaret] = useState<number>();
  const place = caret === undefined ? undefined : nameAt(shown, caret);
  const typed = place ? shown.slice(place.from, place.to).trim() : "";
  const sought = useDeferredValue(/[*?]/.test(typed) ? "" : typed);
  const found = useQuery({ ...toolSearchQuery(sought, OFFERED), enabled: sought !== "" });
  const names = sought === "" ? [] : (found.data?.items ?? []).map((tool) => tool.name);
  const offered = names.filter((name) => name !== typed && !value.includes(name));
  const take = (name: string) => {
    if (!place) return;
    write(`${shown.slice(0, place.from)}${name}${shown.slice(place.to)}`);
    setCaret(undefined);
    box.current?.focus();
  };
  return (
    <div className="grid gap-1">
      <Field {...{ label, hint, problem }}>
        {(told) => (
          <TextArea
            {...told}
            ref={box}
            rows={rows}
            value={shown}
            placeholder={placeholder}
            spellCheck={false}
            className="font-mono text-sm!"
            onChange={(event) => {
              write(event.target.value);
              setCaret(event.target.selectionStart);
            }}
          />
        )}
      </Field>
      {offered.length > 0 && (
        <ul aria-label={t("completions")} className="flex flex-wrap gap-1">
          {offered.map((name) => (
            <li key={name}>
              <button
                type="button"
                className="rounded bg-accent-soft px-1.5 font-mono text-xs text-accent-text hover:underline"
                onClick={() => take(name)}
              >
                {name}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
