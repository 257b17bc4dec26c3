// Where arguments stand in a config as `{{name}}`, and which of them nobody has declared.

import { Plus } from "lucide-react";
import { useTranslation } from "react-i18next";
import { writeExact } from "../../exact";
import { Button } from "../../ui/button";
import { Note } from "../../ui/note";
import { type Draft, parameter } from "./draft";
import type { StepProps } from "./editor-state";

/** The names of `{{name}}` in a config, in their order. */
export const placesIn = (config: unknown): string[] => [
  ...new Set(
    [...writeExact(config ?? null).matchAll(/\{\{\s*([\p{Alphabetic}\p{N}_-]+)\s*\}\}/gu)].map((match) => match[1]!),
  ),
];

export function PlacesNote({ draft, change }: Pick<StepProps, "change"> & { draft: Draft }) {
  const { t } = useTranslation("editor");
  const declared = new Set(draft.parameters.map((one) => one.name));
  const missing = placesIn(draft.config).filter((name) => !declared.has(name));
  if (missing.length === 0) return <p className="text-sm text-muted">{t("places.about", { place: "{{name}}" })}</p>;
  return (
    <Note
      tone="warn"
      actions={
        <Button
          small
          icon={Plus}
          className="text-fg"
          onClick={() => change({ parameters: [...draft.parameters, ...missing.map((name) => parameter(name))] })}
        >
          {t("places.add", { count: missing.length })}
        </Button>
      }
    >
      {t("places.undeclared", { names: missing.join(", ") })}
    </Note>
  );
}
