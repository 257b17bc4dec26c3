// The fields of a form whose answer leads somewhere else: while it is on its way nothing can be typed that would be lost.

import { type ReactNode, useEffect, useRef } from "react";

export function Still({ busy, children }: { busy: boolean; children: ReactNode }) {
  const fields = useRef<HTMLFieldSetElement>(null);
  // A field that cannot be used loses the focus: it has it again where the answer was a refusal.
  const was = useRef<HTMLElement>(null);
  const remember = () => {
    const now = document.activeElement as HTMLElement | null;
    was.current = fields.current?.contains(now) ? now : null;
  };
  useEffect(() => {
    if (busy) return;
    if (was.current?.isConnected && document.activeElement === document.body) was.current.focus();
  }, [busy]);
  return (
    <fieldset ref={fields} disabled={busy} onFocus={remember} className="contents">
      {children}
    </fieldset>
  );
}
