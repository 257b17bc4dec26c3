// Settings: how the page looks to oneself, secrets, how the server is doing, tools from and for OpenAPI.

import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { useAddress } from "../../search";
import { Page } from "../../ui/page";
import { Tabs } from "../../ui/tabs";
import { Health } from "./health";
import { OpenApi } from "./open-api";
import { Personal } from "./personal";
import { Secrets } from "./secrets";

export default function Settings() {
  const { t } = useTranslation("settings");
  const [found, change] = useAddress();
  const mayAuthor = useMay("author");
  return (
    <Page title={t("title")}>
      <Tabs
        label={t("title")}
        open={found.tab ?? "personal"}
        onOpen={(id) => change({ tab: id === "personal" ? undefined : id, q: undefined })}
        tabs={[
          { id: "personal", label: t("tab.personal"), content: <Personal /> },
          ...(mayAuthor ? [{ id: "secrets", label: t("tab.secrets"), content: <Secrets /> }] : []),
          { id: "openapi", label: t("tab.openapi"), content: <OpenApi /> },
          { id: "server", label: t("tab.server"), content: <Health /> },
        ]}
      />
    </Page>
  );
}
