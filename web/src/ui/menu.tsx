// A menu behind a button. The button is there at once; what opens it comes right after the first paint.

import type { LucideIcon } from "lucide-react";
import { lazy, type ReactNode, Suspense } from "react";

export type Entry =
  | { label: string; icon?: LucideIcon; danger?: boolean; disabled?: boolean; checked?: boolean; onSelect: () => void }
  | "line";

export type MenuProps = { trigger: ReactNode; entries: Entry[]; align?: "start" | "end" };

const MenuList = lazy(() => import("./menu-list"));

export function Menu(props: MenuProps) {
  return (
    <Suspense fallback={props.trigger}>
      <MenuList {...props} />
    </Suspense>
  );
}
