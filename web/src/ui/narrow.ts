// Whether the screen is so narrow that rows become cards. What is not shown is not drawn: hiding it would cost as much.

import { useSyncExternalStore } from "react";

// Tailwind's `md` begins at 48rem.
const narrow = globalThis.matchMedia?.("(width < 48rem)");

export const useNarrow = (): boolean =>
  useSyncExternalStore(
    (tell) => {
      narrow?.addEventListener("change", tell);
      return () => narrow?.removeEventListener("change", tell);
    },
    () => narrow?.matches ?? false,
  );
