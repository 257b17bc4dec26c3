// Tabs. Which one is open is for the caller to keep, most often in the address.

import clsx from "clsx";
import { Tabs as Radix } from "radix-ui";
import type { ReactNode } from "react";

export type Tab = { id: string; label: ReactNode; content: ReactNode };

type Props = {
  tabs: Tab[];
  open: string;
  onOpen: (id: string) => void;
  /** Somebody points at a tab, and may open it. */
  onNear?: (id: string) => void;
  label: string;
  className?: string;
  fill?: boolean;
};

export function Tabs({ tabs, open, onOpen, onNear, label, className, fill }: Props) {
  return (
    <Radix.Root value={open} onValueChange={onOpen} className={clsx("flex min-h-0 flex-col", className)}>
      <Radix.List aria-label={label} className="flex shrink-0 gap-1 overflow-x-auto border-b">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.id}
            value={tab.id}
            onPointerEnter={onNear && (() => onNear(tab.id))}
            className="-mb-px h-9 border-b-2 border-transparent px-3 font-medium whitespace-nowrap text-muted hover:text-fg data-[state=active]:border-accent data-[state=active]:text-fg"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content
          key={tab.id}
          value={tab.id}
          tabIndex={-1}
          // Otherwise what stands in it is only begun after it is shown.
          forceMount={fill || undefined}
          className={clsx("pt-3 outline-none", fill && "min-h-0 grow data-[state=inactive]:hidden")}
        >
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
