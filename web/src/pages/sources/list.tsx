// The list of data sources: which databases there are, whether they answer, and where they come from.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Database, Plus } from "lucide-react";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { useShortcuts } from "../../keys";
import { useAddress } from "../../search";
import { Badge } from "../../ui/badge";
import { Button, buttonClass } from "../../ui/button";
import { Select } from "../../ui/field";
import { ReadOnly } from "../../ui/note";
import { Page } from "../../ui/page";
import { SearchBox } from "../../ui/search-box";
import { Empty, Failed, Skeleton } from "../../ui/states";
import { Cell, Row, Table } from "../../ui/table";
import { fits } from "../../words";
import { sourcesQuery } from "./queries";
import { pathOf, placeOf, StateBadge } from "./state";

export default function Sources() {
  const { t } = useTranslation(["sources", "frame"]);
  const [found, change] = useAddress();
  const navigate = useNavigate();
  const isAdmin = useMay("admin");
  const sources = useQuery(sourcesQuery);
  const all = sources.data ?? [];
  const shown = all.filter(
    (source) =>
      fits(found.q, source.name, source.description, placeOf(source)) && (!found.kind || source.kind === found.kind),
  );
  useShortcuts(
    useMemo(
      () =>
        isAdmin
          ? [{ id: "new-source", keys: "n", label: t("add"), run: () => void navigate({ to: "/sources/new" }) }]
          : [],
      [isAdmin, t, navigate],
    ),
  );
  const add = isAdmin && (
    <Link to="/sources/new" className={buttonClass("primary")}>
      <Plus aria-hidden className="size-4" />
      {t("add")}
    </Link>
  );
  return (
    <Page title={t("title")} about={t("about")} actions={all.length > 0 && add}>
      <ReadOnly scope="admin" />
      {sources.error && <Failed error={sources.error} again={() => void sources.refetch()} />}
      {sources.isPending && <Skeleton />}
      {sources.data && all.length === 0 && (
        <Empty icon={Database} title={t("empty.title")} action={add}>
          {t("empty.about")}
        </Empty>
      )}
      {all.length > 0 && (
        <div className="mb-3 flex flex-wrap items-center gap-2">
          <SearchBox />
          <Select
            aria-label={t("kind")}
            className="w-auto!"
            value={found.kind ?? ""}
            onChange={(event) => change({ kind: event.target.value || undefined })}
          >
            <option value="">{t("anyKind")}</option>
            <option value="sqlite">SQLite</option>
            <option value="postgres">PostgreSQL</option>
          </Select>
        </div>
      )}
      {all.length > 0 && shown.length === 0 && (
        <Empty
          title={t("frame:nothingFits")}
          action={<Button onClick={() => change({ q: undefined, kind: undefined })}>{t("frame:clearFilters")}</Button>}
        />
      )}
      {shown.length > 0 && (
        <Table
          label={t("title")}
          columns={[
            { label: t("name") },
            { label: t("stateLabel") },
            { label: t("kind") },
            { label: t("originLabel") },
            { label: t("rights") },
            { label: t("authorsLabel") },
          ]}
        >
          {shown.map((source) => (
            <Row
              key={`${source.name}-${source.origin}`}
              status={source.state}
              onOpen={() => void navigate({ to: pathOf(source.name) })}
            >
              <Cell>
                <Link to={pathOf(source.name)} className="font-mono font-medium no-underline hover:underline">
                  {source.name}
                </Link>
                <p className="max-w-xl truncate text-xs text-muted">{source.description ?? placeOf(source)}</p>
              </Cell>
              <Cell>
                <StateBadge source={source} />
                {source.cause && <p className="mt-1 max-w-72 text-xs text-danger">{source.cause}</p>}
                {source.warnings.length > 0 && (
                  <Badge tone="warn" className="ml-1">
                    {t("warnings", { count: source.warnings.length })}
                  </Badge>
                )}
              </Cell>
              <Cell>{source.kind === "sqlite" ? "SQLite" : "PostgreSQL"}</Cell>
              <Cell className="text-muted">{t(`origin.${source.origin as "file" | "database" | "environment"}`)}</Cell>
              <Cell>
                <Badge tone={source.allow_write ? "warn" : "plain"}>{t(source.allow_write ? "writes" : "reads")}</Badge>
              </Cell>
              <Cell className="text-muted">{t(`authors.${source.authors as "admins" | "everyone"}`)}</Cell>
            </Row>
          ))}
        </Table>
      )}
    </Page>
  );
}
