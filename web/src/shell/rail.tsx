// The menu at the left. A narrow screen has none: there it comes over the page, see `NarrowMenu`.

import clsx from "clsx";
import { PanelLeftClose, PanelLeftOpen } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "../ui/button";
import { RailPlaces } from "./rail-places";

export function Rail() {
  const { t } = useTranslation();
  const [slim, setSlim] = useState(localStorage.getItem("toolcrib.rail") === "slim");
  const fold = () => {
    localStorage.setItem("toolcrib.rail", slim ? "wide" : "slim");
    setSlim(!slim);
  };
  return (
    <nav
      aria-label={t("nav.label")}
      className={clsx(
        "row-span-2 hidden flex-col overflow-y-auto border-r bg-panel lg:flex",
        slim ? "lg:w-14" : "lg:w-56",
      )}
    >
      <div className="flex h-12 shrink-0 items-center gap-2 px-3.5">
        <img src="/icon.svg" alt="" className="size-6" />
        {!slim && <span className="grow text-base font-semibold">Toolcrib</span>}
      </div>
      <div className="grow px-2 pb-2">
        <RailPlaces slim={slim} />
      </div>
      <div className="p-2">
        <IconButton
          icon={slim ? PanelLeftOpen : PanelLeftClose}
          label={t(slim ? "nav.widen" : "nav.narrow")}
          onClick={fold}
        />
      </div>
    </nav>
  );
}
