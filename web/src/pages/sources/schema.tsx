// The tables of a source: searched on the server and fetched page by page, so that thousands of them are no burden.

import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight, KeyRound, RefreshCw, Table2, View, Wrench } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { useAddress } from "../../search";
import { Badge } from "../../ui/badge";
import { Button, buttonClass, IconButton } from "../../ui/button";
import { CopyButton } from "../../ui/copy";
import { SearchBox } from "../../ui/search-box";
import { Empty, Failed, Skeleton } from "../../ui/states";
import { nameOf } from "../tools/sql-parameters";
import { schemaQuery, type TableView } from "./queries";

const fullName = (table: TableView) => (table.schema ? `${table.schema}.${table.name}` : table.name);

function Columns({ table }: { table: TableView }) {
  const { t } = useTranslation("sources");
  const pointed = new Map(
    table.foreign_keys.flatMap((key) =>
      key.columns.map((column, at) => [column, `${key.references}.${key.referenced_columns[at] ?? "?"}`] as const),
    ),
  );
  return (
    <ul className="border-t bg-sunken/50 py-1">
      {table.columns.map((column) => (
        <li key={column.name} className="flex flex-wrap items-center gap-2 px-10 py-0.5 text-sm">
          <span className="font-mono">{column.name}</span>
          <span className="font-mono text-xs text-muted">{column.type}</span>
          {table.primary_key.includes(column.name) && (
            <Badge tone="accent" icon={KeyRound}>
              {t("schema.key")}
            </Badge>
          )}
          {!column.nullable && <Badge>{t("schema.notNull")}</Badge>}
          {pointed.has(column.name) && <span className="text-xs text-muted">→ {pointed.get(column.name)}</span>}
          {column.comment && <span className="text-muted">{column.comment}</span>}
        </li>
      ))}
    </ul>
  );
}

function OneTable({ source, table, isOpen }: { source: string; table: TableView; isOpen: boolean }) {
  const { t } = useTranslation("sources");
  const mayAuthor = useMay("author");
  const [open, setOpen] = useState(isOpen);
  const Icon = table.kind === "view" ? View : Table2;
  const name = fullName(table);
  return (
    <li>
      <div className="flex items-center gap-2 py-1 pr-2 pl-1">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex min-h-8 min-w-0 grow items-center gap-2 rounded px-2 text-left hover:bg-sunken"
        >
          <ChevronRight aria-hidden className={`size-4 shrink-0 transition-transform ${open ? "rotate-90" : ""}`} />
          <Icon aria-hidden className="size-4 shrink-0 text-muted" />
          <span className="truncate font-mono font-medium">{name}</span>
          <span className="text-xs whitespace-nowrap text-muted">
            {t(table.kind === "view" ? "schema.view" : "schema.table")} ·{" "}
            {t("schema.columns", { count: table.columns.length })}
          </span>
          {table.comment && <span className="truncate text-sm text-muted">{table.comment}</span>}
        </button>
        <CopyButton text={name} label={t("schema.copyName", { name })} />
        {mayAuthor && (
          <Link
            to="/tools/new"
            search={{ source, table: nameOf(table) } as never}
            aria-label={t("schema.makeToolOf", { name })}
            className={buttonClass("quiet", true)}
          >
            <Wrench aria-hidden className="size-4" />
            <span className="max-sm:sr-only">{t("schema.makeTool")}</span>
          </Link>
        )}
      </div>
      {open && <Columns table={table} />}
    </li>
  );
}

export function Schema({ source }: { source: string }) {
  const { t } = useTranslation(["sources", "frame"]);
  const [found, change] = useAddress();
  // A letter more does not wait for the answer to the one before.
  const search = useDeferredValue(found.q);
  const schema = useInfiniteQuery(schemaQuery(source, search));
  if (schema.error) return <Failed error={schema.error} again={() => void schema.refetch()} />;
  const tables = schema.data?.pages.flatMap((page) => page.items) ?? [];
  const total = schema.data?.pages[0]?.total ?? 0;
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox label={t("schema.search")} />
        <span role="status" className="text-sm text-muted">
          {schema.data && t("schema.shown", { shown: tables.length, count: total })}
        </span>
        <IconButton
          icon={RefreshCw}
          label={t("frame:refresh")}
          busy={schema.isFetching}
          onClick={() => void schema.refetch()}
        />
      </div>
      {schema.isPending && <Skeleton />}
      {schema.data && tables.length === 0 && (
        <Empty
          icon={Table2}
          title={found.q ? t("frame:nothingFits") : t("schema.none")}
          action={found.q && <Button onClick={() => change({ q: undefined })}>{t("frame:clearFilters")}</Button>}
        >
          {!found.q && t("schema.noneAbout")}
        </Empty>
      )}
      {tables.length > 0 && (
        <ul className={`divide-y rounded-lg border bg-panel ${schema.isPlaceholderData ? "opacity-60" : ""}`}>
          {tables.map((table) => (
            <OneTable key={fullName(table)} source={source} table={table} isOpen={total === 1} />
          ))}
        </ul>
      )}
      {schema.hasNextPage && (
        <div>
          <Button busy={schema.isFetchingNextPage} onClick={() => void schema.fetchNextPage()}>
            {t("frame:loadMore")}
          </Button>
        </div>
      )}
    </div>
  );
}
