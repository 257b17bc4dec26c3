// The places of the page, in their groups, as the menu at the left and the one of a narrow screen have them.

import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useMe } from "../api/me";
import { groups } from "../nav";
import { Tip } from "../ui/tip";

/** `slim`: only their icons, with their names as tooltips. */
export function RailPlaces({ slim, onGo }: { slim: boolean; onGo?: () => void }) {
  const { t } = useTranslation();
  const { scopes } = useMe();
  return groups.map((group) => {
    const shown = group.places.filter(
      (place) => !place.scope || scopes.includes(place.scope) || scopes.includes("admin"),
    );
    if (shown.length === 0) return null;
    return (
      <div key={group.label ?? shown[0]?.path} className="mt-2">
        {group.label && !slim && <h2 className="px-2 py-1 text-xs font-medium text-muted">{t(group.label)}</h2>}
        {group.label && slim && <hr className="mx-2 my-2" />}
        <ul>
          {shown.map((place) => (
            <li key={place.path}>
              <Tip text={slim ? t(place.label) : null}>
                <Link
                  to={place.path}
                  activeOptions={{ exact: place.path === "/" }}
                  onClick={onGo}
                  className="flex h-8 items-center gap-2.5 rounded-md px-2 text-muted no-underline hover:bg-sunken hover:text-fg aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent-text"
                >
                  <place.icon aria-hidden className="size-4 shrink-0" />
                  <span className={slim ? "sr-only" : "truncate"}>{t(place.label)}</span>
                </Link>
              </Tip>
            </li>
          ))}
        </ul>
      </div>
    );
  });
}
