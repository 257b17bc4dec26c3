// What a list shows stands in the address: a link to it shows the same, and going back brings it back.

import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";

export type Search = Record<string, string | undefined>;

/** The address's parameters, and a way to change some of them. */
export function useAddress(): [Search, (change: Search, options?: { push?: boolean }) => void] {
  const found = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const change = useCallback(
    (some: Search, options?: { push?: boolean }) =>
      void navigate({
        to: ".",
        search: (before: Search) => ({ ...before, ...some }),
        replace: !options?.push,
        // The page stays: where it is scrolled to is its own business.
        resetScroll: false,
      } as never),
    [navigate],
  );
  return [found, change];
}
