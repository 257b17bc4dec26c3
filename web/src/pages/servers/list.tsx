// The list of MCP servers: how each is doing right now, apart from whether it is switched on.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { FileJson2, Plug, Plus } from "lucide-react";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { useShortcuts } from "../../keys";
import { useAddress } from "../../search";
import { Button, buttonClass } from "../../ui/button";
import { Select } from "../../ui/field";
import { ReadOnly } from "../../ui/note";
import { Page } from "../../ui/page";
import { SearchBox } from "../../ui/search-box";
import { Empty, Failed, Skeleton } from "../../ui/states";
import { fits } from "../../words";
import { ServerCard } from "./card";
import { ImportServers } from "./import";
import { STATES, serversQuery } from "./queries";

export default function Servers() {
  const { t } = useTranslation(["servers", "frame"]);
  const [found, change] = useAddress();
  const mayOperate = useMay("operate");
  const navigate = useNavigate();
  const queries = useQueryClient();
  const servers = useQuery(serversQuery);
  const [importing, setImporting] = useState(false);
  const all = servers.data ?? [];
  const shown = all.filter(
    (server) =>
      fits(found.q, server.name, server.url, server.command, server.cause) &&
      (!found.state || server.state === found.state),
  );
  useShortcuts(
    useMemo(
      () =>
        mayOperate
          ? [{ id: "new-server", keys: "n", label: t("add"), run: () => void navigate({ to: "/servers/new" }) }]
          : [],
      [mayOperate, t, navigate],
    ),
  );
  const addButtons = mayOperate && (
    <>
      <Button icon={FileJson2} onClick={() => setImporting(true)}>
        {t("import.open")}
      </Button>
      <Link to="/servers/new" className={buttonClass("primary")}>
        <Plus aria-hidden className="size-4" />
        {t("add")}
      </Link>
    </>
  );
  return (
    <Page title={t("title")} about={t("about")} actions={all.length > 0 && addButtons}>
      <ReadOnly scope="operate" />
      {servers.error && <Failed error={servers.error} again={() => void servers.refetch()} />}
      {servers.isPending && <Skeleton />}
      {servers.data && all.length === 0 && (
        <Empty icon={Plug} title={t("empty.title")} action={addButtons}>
          {t("empty.about")}
        </Empty>
      )}
      {all.length > 0 && (
        <div className="mb-3 flex flex-wrap items-center gap-2">
          <SearchBox />
          <Select
            aria-label={t("stateLabel")}
            className="w-auto!"
            value={found.state ?? ""}
            onChange={(event) => change({ state: event.target.value || undefined })}
          >
            <option value="">{t("anyState")}</option>
            {STATES.filter((state) => all.some((server) => server.state === state)).map((state) => (
              <option key={state} value={state}>
                {t(`state.${state}`)}
              </option>
            ))}
          </Select>
          <span className="text-sm text-muted">{t("count", { count: shown.length })}</span>
        </div>
      )}
      {all.length > 0 && shown.length === 0 && (
        <Empty
          title={t("frame:nothingFits")}
          action={<Button onClick={() => change({ q: undefined, state: undefined })}>{t("frame:clearFilters")}</Button>}
        />
      )}
      <ul className="grid gap-3 xl:grid-cols-2">
        {shown.map((server) => (
          <ServerCard key={server.name} server={server} mayOperate={mayOperate} />
        ))}
      </ul>
      {importing && (
        <ImportServers
          taken={all.map((server) => server.name)}
          onClose={() => {
            setImporting(false);
            void queries.invalidateQueries({ queryKey: ["servers"] });
          }}
        />
      )}
    </Page>
  );
}
