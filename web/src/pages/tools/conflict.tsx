// Somebody else saved the tool meanwhile: what they changed, and whose version is to count.

import { useTranslation } from "react-i18next";
import type { ApiError } from "../../api/errors";
import { Button } from "../../ui/button";
import { Diff } from "../../ui/diff";
import { Note } from "../../ui/note";

type Change = { path: string; before: unknown; after: unknown };
type Props = { error: ApiError; onTheirs: () => void; onMine: (version: number) => void };

export default function Conflict({ error, onTheirs, onMine }: Props) {
  const { t } = useTranslation("editor");
  const { version, changes = [] } = error.details as { version: number; changes?: Change[] };
  return (
    <Note
      tone="warn"
      className="mb-3"
      actions={
        <div className="flex shrink-0 flex-wrap gap-2 text-fg">
          <Button small onClick={onTheirs}>
            {t("conflict.theirs")}
          </Button>
          <Button small onClick={() => onMine(version)}>
            {t("conflict.mine")}
          </Button>
        </div>
      }
    >
      <p className="font-medium">{t("conflict.title", { version })}</p>
      <div className="mt-2 grid max-h-60 gap-2 overflow-auto text-fg">
        {changes.map((one) => (
          <div key={one.path}>
            <p className="font-mono text-sm">{one.path}</p>
            <Diff before={one.before} after={one.after} label={one.path} />
          </div>
        ))}
      </div>
    </Note>
  );
}
