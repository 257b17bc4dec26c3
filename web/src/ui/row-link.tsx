// The link of a row in a long list. The router's own link watches the whole address, in every row; this one only goes there.

import { useRouter } from "@tanstack/react-router";
import { type AnchorHTMLAttributes, type MouseEvent, useCallback } from "react";

type Props = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href"> & { href: string };

/** With a key held down, or another button, the browser does what it always does. */
const isPlain = (event: MouseEvent) =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;

export function RowLink({ href, onClick, children, ...rest }: Props) {
  const router = useRouter();
  const go = useCallback(
    (event: MouseEvent<HTMLAnchorElement>) => {
      onClick?.(event);
      if (event.defaultPrevented || !isPlain(event)) return;
      event.preventDefault();
      void router.navigate({ href, resetScroll: false } as never);
    },
    [router, href, onClick],
  );
  return (
    <a {...rest} href={href} onClick={go}>
      {children}
    </a>
  );
}
