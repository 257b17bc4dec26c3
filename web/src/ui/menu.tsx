// A menu behind a button. Only the button is there until somebody asks for it: a list has one in every row.

import type { LucideIcon } from "lucide-react";
import { cloneElement, type KeyboardEvent, lazy, type MouseEvent, type ReactElement, Suspense, useState } from "react";

export type Entry =
  | { label: string; icon?: LucideIcon; danger?: boolean; disabled?: boolean; checked?: boolean; onSelect: () => void }
  | "line";

export type MenuProps = {
  trigger: ReactElement<TriggerProps>;
  entries: Entry[] | (() => Entry[]);
  align?: "start" | "end";
};

type TriggerProps = {
  onClick?: (event: MouseEvent) => void;
  onKeyDown?: (event: KeyboardEvent) => void;
  onPointerEnter?: () => void;
  onFocus?: () => void;
  "aria-haspopup"?: "menu";
  "aria-expanded"?: boolean;
};

const load = () => import("./menu-list");
const MenuList = lazy(load);

export function Menu(props: MenuProps) {
  const [asked, setAsked] = useState(false);
  const ask = () => setAsked(true);
  const closed = cloneElement(props.trigger, {
    "aria-haspopup": "menu",
    "aria-expanded": false,
    onClick: ask,
    onKeyDown: (event) => {
      if (event.key === "ArrowDown") ask();
    },
    // It has come by the time that somebody clicks.
    onPointerEnter: load,
    onFocus: load,
  });
  if (!asked) return closed;
  return (
    <Suspense fallback={closed}>
      <MenuList {...props} />
    </Suspense>
  );
}
