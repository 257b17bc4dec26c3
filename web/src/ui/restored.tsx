// Says that a form shows what was not saved the last time, and takes it away.

import { useTranslation } from "react-i18next";
import type { Kept } from "../kept";
import { Button } from "./button";
import { Note } from "./note";

type Props = {
  kept: Pick<Kept<never>, "isRestored" | "discard">;
  /** Secrets can be typed in it, which are not kept. */
  secrets?: boolean;
  className?: string;
};

export function Restored({ kept, secrets, className }: Props) {
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
      {secrets && ` ${t("secretsNotKept")}`}
    </Note>
  );
}
