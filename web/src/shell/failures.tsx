// An address that leads nowhere, and a page that broke.

import { type ErrorComponentProps, Link } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { useTranslation } from "react-i18next";
import { buttonClass } from "../ui/button";
import { Page } from "../ui/page";
import { Empty, Failed } from "../ui/states";

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

export function Broken({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  return (
    <Page title={t("broken")}>
      <Failed error={error} again={reset} />
    </Page>
  );
}
