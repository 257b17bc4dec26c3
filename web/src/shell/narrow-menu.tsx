// The menu on a narrow screen: it comes over the page, keeps the focus while it is open, and gives it back. Loaded when
// somebody opens it.

import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "../ui/button";
import { atContent, useOpener } from "../ui/opener";
import { RailPlaces } from "./rail-places";

export function NarrowMenu({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const opener = useOpener(atContent);
  // Tailwind's `lg`: from there on the menu stands beside the page.
  useEffect(() => {
    const wide = matchMedia("(width >= 64rem)");
    wide.addEventListener("change", onClose);
    return () => wide.removeEventListener("change", onClose);
  }, [onClose]);
  return (
    <Dialog.Root open onOpenChange={(now) => !now && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Content
          aria-describedby={undefined}
          {...opener}
          className="fixed inset-y-0 left-0 z-50 flex w-60 flex-col overflow-y-auto border-r bg-panel outline-none"
        >
          <div className="flex h-12 shrink-0 items-center gap-2 px-3.5">
            <img src="/icon.svg" alt="" className="size-6" />
            <Dialog.Title className="grow text-base font-semibold">
              Toolcrib<span className="sr-only">: {t("nav.label")}</span>
            </Dialog.Title>
            <IconButton icon={X} label={t("close")} onClick={onClose} />
          </div>
          <nav aria-label={t("nav.label")} className="grow px-2 pb-2">
            <RailPlaces slim={false} onGo={onClose} />
          </nav>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
