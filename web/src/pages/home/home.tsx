// The first page: what is here, and what to do next.

import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { buttonClass } from "../../ui/button";
import { Page } from "../../ui/page";
import { Empty } from "../../ui/states";

export default function Home() {
  const { t } = useTranslation(["home", "common"]);
  return (
    <Page title={t("home:title")}>
      <Empty
        title={t("home:title")}
        action={
          <Link to="/tools" className={buttonClass("primary")}>
            {t("common:nav.tools")}
          </Link>
        }
      >
        {t("home:about")}
      </Empty>
    </Page>
  );
}
