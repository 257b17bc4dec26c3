// The search above a list. What is typed stands in the address; `/` goes here.

import clsx from "clsx";
import { Search } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useTyped } from "../typed";
import { inputClass } from "./field";

export function SearchBox({ label, param = "q", className }: { label?: string; param?: string; className?: string }) {
  const { t } = useTranslation();
  const typed = useTyped(param);
  return (
    <div className={clsx("relative min-w-48 grow sm:max-w-80", className)}>
      <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-4 text-muted" />
      <input
        {...typed}
        type="search"
        aria-label={label ?? t("search")}
        placeholder={label ?? t("search")}
        className={clsx(inputClass, "h-8 pl-8")}
      />
    </div>
  );
}
