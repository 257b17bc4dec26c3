// What few people need, folded away; open from the beginning where it says something already.

import { type ReactNode, useState } from "react";

export function More({ label, isUsed, children }: { label: ReactNode; isUsed: boolean; children: ReactNode }) {
  // Only at the beginning: it must not close under whoever empties its last field.
  const [isOpen, setOpen] = useState(isUsed);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)} className="mt-4 border-t pt-3">
      <summary className="cursor-pointer font-medium">{label}</summary>
      <div className="mt-2">{children}</div>
    </details>
  );
}
