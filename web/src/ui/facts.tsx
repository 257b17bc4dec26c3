// Names and what belongs to them, below each other.

import type { ReactNode } from "react";

export type Fact = [label: ReactNode, value: ReactNode];

/** Facts without a value are left out. */
export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl className="grid grid-cols-[minmax(6rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-1.5">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false)
        .map(([label, value], at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a fact is its place
          <div key={at} className="contents">
            <dt className="text-muted">{label}</dt>
            <dd className="min-w-0">{value}</dd>
          </div>
        ))}
    </dl>
  );
}
