// Two texts, or two values as JSON, and what differs between them.

import clsx from "clsx";
import { useTranslation } from "react-i18next";
import { diffLines, folded } from "../diff";
import { writeExact } from "../exact";

const text = (value: unknown) =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : writeExact(value, 2);

type Props = {
  before: unknown;
  after: unknown;
  label: string;
  /** Also the lines that stayed. */
  whole?: boolean;
};

export function Diff({ before, after, label, whole }: Props) {
  const { t } = useTranslation();
  // Something that came or went whole has no empty line to be compared with.
  const was = text(before);
  const is = text(after);
  const lines = diffLines(was, is).filter(
    (line) => line.kind === "same" || line.text !== "" || (was !== "" && is !== ""),
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys
    <section tabIndex={0} aria-label={label} className="max-h-96 overflow-auto rounded-md border bg-sunken py-1">
      <pre className="w-max min-w-full text-sm">
        {(whole ? lines : folded(lines)).map((line, at) =>
          line === null ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
            <span key={at} className="block px-3 text-muted">
              ⋯
            </span>
          ) : (
            <span
              // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
              key={at}
              className={clsx(
                "block px-3 whitespace-pre-wrap",
                line.kind === "added" && "bg-ok-soft text-ok",
                line.kind === "removed" && "bg-danger-soft text-danger",
              )}
            >
              <span className="sr-only">
                {line.kind === "added" ? `${t("added")}: ` : line.kind === "removed" ? `${t("removed")}: ` : ""}
              </span>
              <span aria-hidden className="mr-2 select-none">
                {line.kind === "added" ? "+" : line.kind === "removed" ? "−" : " "}
              </span>
              {line.text}
            </span>
          ),
        )}
      </pre>
    </section>
  );
}
