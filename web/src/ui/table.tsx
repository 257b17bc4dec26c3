// A table that can be wider than its place: on a narrow screen it is scrolled rather than squeezed. `Row` with `onOpen` is opened by a click anywhere in it; for the keyboard the link
// in its first cell does the same.

import clsx from "clsx";
import type { MouseEvent, ReactNode } from "react";

export type Column = { label: ReactNode; className?: string; hidden?: boolean };

export function Table({ label, columns, children }: { label: string; columns: Column[]; children: ReactNode }) {
  return (
    // What is only read out is placed, too, and must not reach out of it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys
    <section tabIndex={0} aria-label={label} className="relative overflow-x-auto rounded-lg border bg-panel">
      <table className="w-full border-collapse text-left wrap-break-word max-md:w-max max-md:min-w-full max-md:[&_td]:max-w-60">
        <thead>
          <tr className="border-b text-xs text-muted">
            {columns.map((column, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
              <th key={at} scope="col" className={clsx("h-9 px-3 font-medium whitespace-nowrap", column.className)}>
                {column.hidden ? <span className="sr-only">{column.label}</span> : column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y">{children}</tbody>
      </table>
    </section>
  );
}

const isControl = (target: EventTarget | null) =>
  !!(target as HTMLElement | null)?.closest("a, button, input, select, textarea, label, [role=menuitem]");

type RowProps = { children: ReactNode; onOpen?: () => void; status?: string; className?: string };

export function Row({ children, onOpen, status, className }: RowProps) {
  const open = (event: MouseEvent) => {
    if (!isControl(event.target) && !getSelection()?.toString()) onOpen?.();
  };
  return (
    <tr
      data-status={status}
      onClick={onOpen && open}
      className={clsx("align-middle", onOpen && "cursor-pointer hover:bg-sunken/60", className)}
    >
      {children}
    </tr>
  );
}

export function Cell({ children, className }: { children?: ReactNode; className?: string }) {
  return <td className={clsx("px-3 py-2", className)}>{children}</td>;
}
