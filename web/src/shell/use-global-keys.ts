// Keys that work on every page.

import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { onKeyDown, type Shortcut, useShortcuts } from "../keys";
import { places } from "../nav";

export function useGlobalKeys({ openPalette, openSheet }: { openPalette: () => void; openSheet: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what opens them is the same all along
  const shortcuts = useMemo<Shortcut[]>(
    () => [
      { id: "palette", keys: "mod+k", label: t("palette.open"), run: openPalette },
      { id: "sheet", keys: "?", label: t("keySheet"), run: openSheet },
      {
        id: "search",
        keys: "/",
        label: t("searchHere"),
        run: () =>
          (document.querySelector<HTMLInputElement>("main input[type=search]") ?? { focus: openPalette }).focus(),
      },
      ...places.flatMap((place) =>
        place.key
          ? [
              {
                id: `go-${place.path}`,
                keys: `g ${place.key}`,
                label: t(place.label),
                run: () => void navigate({ to: place.path }),
              },
            ]
          : [],
      ),
    ],
    [t, navigate],
  );
  useShortcuts(shortcuts);
  useEffect(() => {
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
