// A short text beside what the pointer or the focus is on. Buttons only carry it; one layer above the page shows it, so that a
// page with hundreds of them loads and draws nothing for it.

import { cloneElement, type ReactElement, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";

const AFTER_MS = 300;
/** As long as the way from the button to its tip takes. */
const GOES_MS = 120;
const GAP = 5;
const EDGE = 8;

export const Tip = ({ text, children }: { text: string | null | undefined; children: ReactElement }) =>
  text ? cloneElement(children as ReactElement<{ "data-tip"?: string }>, { "data-tip": text }) : children;

export function TipProvider({ children }: { children: ReactNode }) {
  return (
    <>
      {children}
      <TipLayer />
    </>
  );
}

const tipped = (target: EventTarget | null) => (target instanceof Element ? target.closest("[data-tip]") : null);

function TipLayer() {
  const [at, setAt] = useState<Element>();
  const tip = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let later: ReturnType<typeof setTimeout> | undefined;
    let isByKeys = false;
    const change = (to: Element | undefined, ms: number) => {
      clearTimeout(later);
      if (ms === 0) setAt(to);
      else later = setTimeout(() => setAt(to), ms);
    };
    const drop = () => change(undefined, 0);
    const events: Partial<Record<keyof DocumentEventMap, (event: never) => void>> = {
      pointerover: ({ target, pointerType }: PointerEvent) => {
        if (pointerType === "touch") return;
        if (tip.current?.contains(target as Node)) return clearTimeout(later);
        const over = tipped(target);
        change(over ?? undefined, over ? AFTER_MS : GOES_MS);
      },
      pointerdown: () => {
        isByKeys = false;
        drop();
      },
      keydown: ({ key }: KeyboardEvent) => {
        isByKeys = true;
        if (key === "Escape" || key === "Enter" || key === " ") drop();
      },
      focusin: ({ target }: FocusEvent) => {
        if (isByKeys) change(tipped(target) ?? undefined, 0);
      },
      focusout: drop,
      scroll: drop,
    };
    const all = Object.entries(events) as Array<[string, (event: Event) => void]>;
    for (const [name, told] of all) document.addEventListener(name, told, true);
    return () => {
      clearTimeout(later);
      for (const [name, told] of all) document.removeEventListener(name, told, true);
    };
  }, []);
  useLayoutEffect(() => {
    const shown = tip.current;
    if (!at || !shown) return;
    const [place, size] = [at.getBoundingClientRect(), shown.getBoundingClientRect()];
    const above = place.top - size.height - GAP;
    shown.style.top = `${above >= EDGE ? above : place.bottom + GAP}px`;
    const left = place.left + (place.width - size.width) / 2;
    shown.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - size.width - EDGE))}px`;
  }, [at]);
  const text = at?.isConnected && at.getAttribute("data-tip");
  if (!text) return null;
  return createPortal(
    <div
      ref={tip}
      role="tooltip"
      className="fixed top-0 left-0 z-60 w-max max-w-80 rounded-md bg-fg px-2 py-1 text-xs text-bg shadow-raised"
    >
      {text}
    </div>,
    document.body,
  );
}
