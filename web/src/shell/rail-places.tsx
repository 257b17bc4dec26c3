// The places of the page, in their groups, as the menu at the left and the one of a narrow screen have them.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import clsx from "clsx";
import { useTranslation } from "react-i18next";
import { useMe } from "../api/me";
import { waitingRunsQuery } from "../api/waiting-runs";
import { groups } from "../nav";
import { Tip } from "../ui/tip";

/** How many runs wait for somebody: whoever is at another page would not see it otherwise. */
function Waiting({ slim }: { slim: boolean }) {
  const { t } = useTranslation();
  const { data } = useQuery({ ...waitingRunsQuery, refetchInterval: 30_000, retry: false });
  const count = data?.items.length ?? 0;
  if (count === 0) return null;
  const shown = `${count}${data?.next_cursor ? "+" : ""}`;
  return (
    <span
      className={clsx(
        "rounded-full bg-warn-soft text-xs font-medium text-warn tabular-nums",
        slim ? "absolute top-0 right-0 px-1" : "ml-auto px-1.5",
      )}
    >
      <span aria-hidden>{shown}</span>
      <span className="sr-only">{t("nav.waiting", { count, shown })}</span>
    </span>
  );
}

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
                  className="relative flex h-8 items-center gap-2.5 rounded-md px-2 text-muted no-underline hover:bg-sunken hover:text-fg aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent-text"
                >
                  <place.icon aria-hidden className="size-4 shrink-0" />
                  <span className={slim ? "sr-only" : "truncate"}>{t(place.label)}</span>
                  {place.path === "/runs" && <Waiting slim={slim} />}
                </Link>
              </Tip>
            </li>
          ))}
        </ul>
      </div>
    );
  });
}
