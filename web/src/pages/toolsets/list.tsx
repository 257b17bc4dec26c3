// The list of toolsets: selections of tools with an MCP address of their own.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Cable, Layers, Plus } from "lucide-react";
import { lazy, Suspense, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { useShortcuts } from "../../keys";
import { useAddress } from "../../search";
import { Badge } from "../../ui/badge";
import { Button, buttonClass } from "../../ui/button";
import { CopyButton } from "../../ui/copy";
import { ReadOnly } from "../../ui/note";
import { Page } from "../../ui/page";
import { SearchBox } from "../../ui/search-box";
import { Empty, Failed, Skeleton } from "../../ui/states";
import { Cell, Row, Table } from "../../ui/table";
import { When } from "../../ui/time";
import { fits } from "../../words";
import { pathOf, type ToolsetView, toolsetsQuery } from "./queries";

const Connect = lazy(() => import("../../shell/connect").then((it) => ({ default: it.Connect })));

function Content({ set }: { set: ToolsetView }) {
  const { t } = useTranslation("toolsets");
  const isWhole = set.tools.length === 0 && !set.allow;
  return (
    <span className="flex flex-wrap items-center gap-1">
      {isWhole ? t("everyTool") : t("listed", { count: set.tools.length })}
      {set.allow && set.allow.length > 0 && <Badge>+ {set.allow.join(", ")}</Badge>}
      {set.deny.length > 0 && <Badge>− {set.deny.join(", ")}</Badge>}
      {set.missing.length > 0 && <Badge tone="warn">{t("missing", { count: set.missing.length })}</Badge>}
      {(set.troubles?.length ?? 0) > 0 && <Badge tone="danger">{t("troubles")}</Badge>}
      {set.find_tools && <Badge tone="info">find_tools</Badge>}
    </span>
  );
}

export default function Toolsets() {
  const { t } = useTranslation(["toolsets", "frame"]);
  const [found, change] = useAddress();
  const navigate = useNavigate();
  const mayAuthor = useMay("author");
  const sets = useQuery(toolsetsQuery);
  const [connecting, setConnecting] = useState<string | null>(null);
  const all = sets.data ?? [];
  const shown = all.filter((set) => fits(found.q, set.name, set.description, set.owner));
  useShortcuts(
    useMemo(
      () =>
        mayAuthor
          ? [{ id: "new-toolset", keys: "n", label: t("new"), run: () => void navigate({ to: "/toolsets/new" }) }]
          : [],
      [mayAuthor, t, navigate],
    ),
  );
  const add = mayAuthor && (
    <Link to="/toolsets/new" className={buttonClass("primary")}>
      <Plus aria-hidden className="size-4" />
      {t("new")}
    </Link>
  );
  return (
    <Page title={t("title")} about={t("about")} actions={all.length > 0 && add}>
      <ReadOnly scope="author" />
      {sets.error && <Failed error={sets.error} again={() => void sets.refetch()} />}
      {sets.isPending && <Skeleton />}
      {sets.data && all.length === 0 && (
        <Empty icon={Layers} title={t("empty.title")} action={add}>
          {t("empty.about")}
        </Empty>
      )}
      {all.length > 0 && (
        <div className="mb-3 flex flex-wrap gap-2">
          <SearchBox />
        </div>
      )}
      {all.length > 0 && shown.length === 0 && (
        <Empty
          title={t("frame:nothingFits")}
          action={<Button onClick={() => change({ q: undefined })}>{t("frame:clearFilters")}</Button>}
        />
      )}
      {shown.length > 0 && (
        <Table
          label={t("title")}
          columns={[
            { label: t("name") },
            { label: t("content") },
            { label: t("owner") },
            { label: t("updated") },
            { label: t("address") },
          ]}
        >
          {shown.map((set) => (
            <Row key={set.id} onOpen={() => void navigate({ to: pathOf(set.name) })}>
              <Cell>
                <Link to={pathOf(set.name)} className="font-mono font-medium no-underline hover:underline">
                  {set.name}
                </Link>
                {set.description && <p className="max-w-md truncate text-xs text-muted">{set.description}</p>}
              </Cell>
              <Cell>
                <Content set={set} />
              </Cell>
              <Cell>
                <span className="flex items-center gap-2">
                  {set.owner}
                  {set.is_public && <Badge tone="accent">{t("public")}</Badge>}
                </span>
              </Cell>
              <Cell className="text-muted">{set.owner === "system" ? t("builtIn") : <When at={set.updated_at} />}</Cell>
              <Cell>
                <span className="flex items-center gap-1">
                  <code className="text-xs">/mcp/{set.name}</code>
                  <CopyButton
                    text={`${location.origin}/mcp/${set.name}`}
                    label={t("copyAddress", { name: set.name })}
                  />
                  <Button
                    small
                    look="quiet"
                    icon={Cable}
                    aria-label={t("connectTo", { name: set.name })}
                    onClick={() => setConnecting(set.name)}
                  >
                    {t("frame:connect.open")}
                  </Button>
                </span>
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      <Suspense>{connecting && <Connect open toolset={connecting} onClose={() => setConnecting(null)} />}</Suspense>
    </Page>
  );
}
