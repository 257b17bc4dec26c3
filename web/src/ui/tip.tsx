// A short text beside what the pointer or the focus is on.

import { Tooltip } from "radix-ui";
import type { ReactNode } from "react";

export const TipProvider = Tooltip.Provider;

export function Tip({ text, children }: { text: ReactNode; children: ReactNode }) {
  if (!text) return children;
  return (
    <Tooltip.Root delayDuration={300}>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          sideOffset={5}
          collisionPadding={8}
          className="z-60 max-w-80 rounded-md bg-fg px-2 py-1 text-xs text-bg shadow-raised"
        >
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
