// A value that is written as JSON. What is no value yet is handed on as text, so that nothing else is saved in its place.

import { useState } from "react";
import { useTranslation } from "react-i18next";
import { writeExact } from "../../exact";
import { Code } from "../../ui/code";
import { parseJson } from "../../ui/schema";

export type Read = { value: unknown } | { unread: string };

/** `object`: a text only, a number or a list is nothing that can stand there. */
export function readJson(text: string, object = false): Read {
  if (text.trim() === "") return { value: undefined };
  const parsed = parseJson(text);
  if (!("value" in parsed)) return { unread: text };
  const { value } = parsed;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return object && !isObject ? { unread: text } : { value };
}

type Props = {
  label: string;
  value: unknown;
  /** What was written the last time and is no value. */
  unread: string | undefined;
  onChange: (read: Read) => void;
  /** Only an object will do. */
  object?: boolean;
  /** The text itself is the value. */
  plain?: boolean;
  className?: string;
};

export function JsonText({ label, value, unread, onChange, object, plain, className }: Props) {
  const { t } = useTranslation("editor");
  const [typed, setTyped] = useState(() => unread ?? textOf(value, plain));
  // What was typed is shown as long as it says what is there: that can be changed elsewhere, too.
  const read = plain ? { value: typed } : readJson(typed, object);
  const none = object ? {} : undefined;
  const isShown =
    unread === undefined
      ? "value" in read && writeExact(read.value ?? none) === writeExact(value ?? none)
      : typed === unread;
  const text = isShown ? typed : (unread ?? textOf(value, plain));
  return (
    <div className="grid gap-1">
      <Code
        language={plain ? "text" : "json"}
        label={label}
        value={text}
        className={className}
        onChange={(next) => {
          setTyped(next);
          onChange(plain ? { value: next } : readJson(next, object));
        }}
      />
      {unread !== undefined && (
        <p role="alert" className="text-sm text-danger">
          {t("notJson")}
        </p>
      )}
    </div>
  );
}

export const textOf = (value: unknown, plain = false): string =>
  value === undefined ? "" : plain && typeof value === "string" ? value : writeExact(value, 2);
