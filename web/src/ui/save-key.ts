// Mod+S in a form that has a button to save it: the same as that button.

import { useMemo, useRef } from "react";
import { useTranslation } from "react-i18next";
import { useShortcuts } from "../keys";

/** For the form. Where its button cannot be pressed, or is not there, nothing is saved. */
export function useSaveKey() {
  const { t } = useTranslation("frame");
  const form = useRef<HTMLFormElement>(null);
  useShortcuts(
    useMemo(() => {
      const run = () => form.current?.querySelector<HTMLElement>("[type=submit]")?.click();
      return [{ id: "save", keys: "mod+s", label: t("save"), run }];
    }, [t]),
  );
  return form;
}
