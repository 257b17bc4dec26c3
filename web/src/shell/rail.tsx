// The menu at the left; on a narrow screen it comes over the page.

import { Link } from "@tanstack/react-router";
import clsx from "clsx";
import { PanelLeftClose, PanelLeftOpen, X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useMe } from "../api/me";
import { groups } from "../nav";
import { IconButton } from "../ui/button";
import { Tip } from "../ui/tip";

export function Rail({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const { scopes } = useMe();
  const [slim, setSlim] = useState(localStorage.getItem("toolcrib.rail") === "slim");
  const fold = () => {
    localStorage.setItem("toolcrib.rail", slim ? "wide" : "slim");
    setSlim(!slim);
  };
  const narrow = slim && !open;
  return (
    <>
      {open && (
        <button
          type="button"
          aria-label={t("close")}
          onClick={onClose}
          className="fixed inset-0 z-40 bg-black/40 lg:hidden"
        />
      )}
      <nav
        aria-label={t("nav.label")}
        className={clsx(
          "row-span-2 flex-col overflow-y-auto border-r bg-panel",
          open ? "fixed inset-y-0 left-0 z-50 flex w-60" : "hidden lg:flex",
          narrow ? "lg:w-14" : "lg:w-56",
        )}
      >
        <div className="flex h-12 shrink-0 items-center gap-2 px-3.5">
          <img src="/icon.svg" alt="" className="size-6" />
          {!narrow && <span className="grow text-base font-semibold">Toolcrib</span>}
          {open && <IconButton icon={X} label={t("close")} onClick={onClose} className="lg:hidden" />}
        </div>
        <div className="grow px-2 pb-2">
          {groups.map((group) => {
            const shown = group.places.filter(
              (place) => !place.scope || scopes.includes(place.scope) || scopes.includes("admin"),
            );
            if (shown.length === 0) return null;
            return (
              <div key={group.label ?? shown[0]?.path} className="mt-2">
                {group.label && !narrow && (
                  <h2 className="px-2 py-1 text-xs font-medium text-muted">{t(group.label)}</h2>
                )}
                {group.label && narrow && <hr className="mx-2 my-2" />}
                <ul>
                  {shown.map((place) => (
                    <li key={place.path}>
                      <Tip text={narrow ? t(place.label) : null}>
                        <Link
                          to={place.path}
                          activeOptions={{ exact: place.path === "/" }}
                          onClick={onClose}
                          className="flex h-8 items-center gap-2.5 rounded-md px-2 text-muted no-underline hover:bg-sunken hover:text-fg aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent-text"
                        >
                          <place.icon aria-hidden className="size-4 shrink-0" />
                          <span className={narrow ? "sr-only" : "truncate"}>{t(place.label)}</span>
                        </Link>
                      </Tip>
                    </li>
                  ))}
                </ul>
              </div>
            );
          })}
        </div>
        <div className="hidden p-2 lg:block">
          <IconButton
            icon={slim ? PanelLeftOpen : PanelLeftClose}
            label={t(slim ? "nav.widen" : "nav.narrow")}
            onClick={fold}
          />
        </div>
      </nav>
    </>
  );
}
