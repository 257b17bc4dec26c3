// Says that a form shows what was not saved the last time, and takes it away.

import { useTranslation } from "react-i18next";
import type { Kept } from "../kept";
import { Button } from "./button";
import { Note } from "./note";

/** Says that what is written here was begun on a version that somebody has changed since; going on from the new one is a choice. */
export function Outdated({ on, now, onGoOn }: { on: number; now: number; onGoOn: () => void }) {
  const { t } = useTranslation();
  if (on === now) return null;
  return (
    <Note
      tone="warn"
      actions={
        <Button small onClick={onGoOn} className="text-fg">
          {t("keepMine")}
        </Button>
      }
    >
      {t("changedMeanwhile")}
    </Note>
  );
}

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
