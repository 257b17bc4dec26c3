// What a menu shows once it is open, and its keys. There once somebody has asked for it, so it begins open: see `Menu`.

import clsx from "clsx";
import { DropdownMenu } from "radix-ui";
import { useEffect, useRef } from "react";
import type { MenuProps } from "./menu";

export default function MenuList({ trigger, entries, align = "end" }: MenuProps) {
  const list = useRef<HTMLDivElement>(null);
  const shown = typeof entries === "function" ? entries() : entries;
  // The first time it opens by itself, and cannot know that it was a key that asked for it.
  useEffect(() => list.current?.querySelector<HTMLElement>("[role=menuitem]:not([data-disabled])")?.focus(), []);
  return (
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          ref={list}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          onClick={(event) => event.stopPropagation()}
          className="z-60 min-w-44 rounded-lg border bg-raised p-1 shadow-raised"
        >
          {shown.map((entry, at) =>
            entry === "line" ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
              <DropdownMenu.Separator key={at} className="my-1 h-px bg-border" />
            ) : (
              <DropdownMenu.Item
                key={entry.label}
                disabled={entry.disabled}
                onSelect={entry.onSelect}
                className={clsx(
                  "flex h-8 cursor-pointer items-center gap-2 rounded px-2 outline-none select-none data-highlighted:bg-sunken data-disabled:cursor-not-allowed data-disabled:opacity-50",
                  entry.danger && "text-danger",
                )}
              >
                {entry.icon && <entry.icon aria-hidden className="size-4" />}
                <span className="grow">{entry.label}</span>
                {entry.checked && <span aria-hidden>✓</span>}
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
