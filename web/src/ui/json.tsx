// A value as JSON, to read. It needs no editor: most pages show one, and an editor is dearer than all else on them.

import clsx from "clsx";
import type { ReactNode } from "react";
import { writeExact } from "../exact";

// A browser lays out only the blocks that are in sight.
const LINES_IN_BLOCK = 100;
// Above this the colours would cost more time than they save.
const COLOURED_MAX = 200_000;
const LINE_PX = 21;

const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Whole lines of JSON with their names, texts and numbers in colour. Nothing of the text is lost. */
export function coloured(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const match of text.matchAll(TOKENS)) {
    const [whole, string, colon = ""] = match;
    if (match.index > at) parts.push(text.slice(at, match.index));
    const colour = string === undefined ? "number" : colon ? "type" : "string";
    parts.push(
      <span key={match.index} style={{ color: `var(--syn-${colour})` }}>
        {string ?? whole}
      </span>,
      colon,
    );
    at = match.index + whole.length;
  }
  return [...parts, text.slice(at)];
}

export function Json({ value, label, className }: { value: unknown; label: string; className?: string }) {
  const text = writeExact(value, 2) ?? "null";
  const lines = text.split("\n");
  const blocks = Array.from({ length: Math.ceil(lines.length / LINES_IN_BLOCK) }, (_, at) =>
    lines.slice(at * LINES_IN_BLOCK, (at + 1) * LINES_IN_BLOCK),
  );
  const isColoured = text.length <= COLOURED_MAX;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys
    <section tabIndex={0} aria-label={label} className={clsx("overflow-auto rounded-md border bg-panel", className)}>
      <pre className="p-2.5 text-sm leading-[21px] wrap-anywhere whitespace-pre-wrap">
        {blocks.map((block, at) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: a block is its place
            key={at}
            className="block [content-visibility:auto]"
            style={{ containIntrinsicSize: `auto ${block.length * LINE_PX}px` }}
          >
            {isColoured ? coloured(block.join("\n")) : block.join("\n")}
          </span>
        ))}
      </pre>
    </section>
  );
}
