// Which kind a tool is of, and what that means.

import clsx from "clsx";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { kindIcons } from "./kind";
import { KINDS, type Kind } from "./queries";

type PickerProps = { kind: Kind; onPick: (kind: Kind) => void; disabled?: boolean };

export function KindPicker({ kind, onPick, disabled }: PickerProps) {
  const { t } = useTranslation(["tools", "editor"]);
  const isAdmin = useMay("admin");
  const isKept = (one: Kind) => !isAdmin && (one === "python" || one === "shell");
  return (
    <fieldset className="flex flex-wrap gap-1.5">
      <legend className="sr-only">{t("tools:kind")}</legend>
      {KINDS.map((one) => {
        const Icon = kindIcons[one];
        return (
          <button
            key={one}
            type="button"
            aria-pressed={kind === one}
            disabled={kind !== one && (disabled || isKept(one))}
            title={isKept(one) ? t("editor:kindsForAdmins") : undefined}
            onClick={() => onPick(one)}
            className={clsx(
              "inline-flex h-8 items-center gap-1.5 rounded-md border px-3 font-medium disabled:cursor-not-allowed disabled:opacity-50",
              kind === one ? "border-accent bg-accent-soft text-accent-text" : "bg-panel hover:bg-sunken",
            )}
          >
            <Icon aria-hidden className="size-4" />
            {t(`tools:kinds.${one}`)}
          </button>
        );
      })}
      <p className="basis-full text-sm text-muted">
        {t(`editor:kindsAbout.${kind}`)}
        {!isAdmin && !disabled && ` ${t("editor:kindsForAdmins")}`}
      </p>
    </fieldset>
  );
}
