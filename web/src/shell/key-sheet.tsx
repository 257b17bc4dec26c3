// All keys that work right now.

import { useTranslation } from "react-i18next";
import { shownKeys, useAllShortcuts } from "../keys";
import { Dialog } from "../ui/overlay";

export function KeySheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const shortcuts = useAllShortcuts();
  return (
    <Dialog open={open} onClose={onClose} title={t("keySheet")}>
      <ul className="grid gap-1 sm:grid-cols-2 sm:gap-x-8">
        {shortcuts.map((one) => (
          <li key={one.id} className="flex items-center gap-2">
            <span className="grow">{one.label}</span>
            {shownKeys(one.keys).map((key) => (
              <kbd key={key} className="rounded border bg-sunken px-1.5 text-xs">
                {key}
              </kbd>
            ))}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
