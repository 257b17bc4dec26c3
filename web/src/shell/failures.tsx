// An address that leads nowhere, and a page that broke.

import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { useEffect, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { Unreachable } from "../api/errors";
import { connection } from "../api/session";
import { isMissing, reloadWhenAnswered } from "../stale";
import { buttonClass } from "../ui/button";
import { Page } from "../ui/page";
import { Empty, Failed, Skeleton } from "../ui/states";

export function NotFound() {
  const { t } = useTranslation();
  return (
    <Page title={t("notFound.title")}>
      <Empty
        icon={Compass}
        title={t("notFound.title")}
        action={
          <Link to="/" className={buttonClass("primary")}>
            {t("nav.home")}
          </Link>
        }
      >
        {t("notFound.about")}
      </Empty>
    </Page>
  );
}

/** A part of the page that did not come is asked for again by loading the page anew, once there is somebody to ask. */
export function Broken({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  const { reachable } = useSyncExternalStore(connection.subscribe, connection.current);
  const missing = isMissing(error);
  const [isTold, setTold] = useState(false);
  useEffect(() => (missing ? reloadWhenAnswered(() => setTold(true)) : undefined), [missing]);
  if (missing && reachable && !isTold) return <Skeleton />;
  return (
    <Page title={t("broken")}>
      <Failed
        error={missing && !reachable ? new Unreachable() : error}
        again={missing ? () => location.reload() : reset}
      />
    </Page>
  );
}
