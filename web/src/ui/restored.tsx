// Says that a form shows what was not saved the last time, and takes it away.

import { useTranslation } from "react-i18next";
import type { Kept } from "../kept";
import { Button } from "./button";
import { Note } from "./note";

export function Restored({
  kept,
  className,
}: {
  kept: Pick<Kept<never>, "isRestored" | "discard">;
  className?: string;
}) {
  const { t } = useTranslation();
  if (!kept.isRestored) return null;
  return (
    <Note
      className={className}
      actions={
        <Button small onClick={kept.discard} className="text-fg">
          {t("discardDraft")}
        </Button>
      }
    >
      {t("restoredDraft")}
    </Note>
  );
}
