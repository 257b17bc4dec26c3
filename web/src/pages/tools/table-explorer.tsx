// The tables of a source. One is put into the query by dragging it there, or with Enter while it has the focus.

import { useInfiniteQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { ChevronRight, Columns3, Eye, RefreshCw, Search, Table2, Variable } from "lucide-react";
import { type DragEvent, useDeferredValue, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "../../ui/button";
import { inputClass } from "../../ui/field";
import { Failed, Skeleton } from "../../ui/states";
import { tablesQuery } from "./queries";
import { DRAGGED, nameOf, quoted } from "./sql-parameters";

const drag = (text: string) => (event: DragEvent) => {
  event.dataTransfer.setData(DRAGGED, text);
  event.dataTransfer.setData("text/plain", text);
  event.dataTransfer.effectAllowed = "copy";
};

const item =
  "flex h-7 w-full cursor-grab items-center gap-1.5 rounded px-1.5 text-left text-sm hover:bg-sunken active:cursor-grabbing";

type Props = {
  source: string;
  /** What the query can name as `:name`. */
  parameters: Array<{ name: string; type: string }>;
  onInsert: (text: string) => void;
};

export function TableExplorer({ source, parameters, onInsert }: Props) {
  const { t } = useTranslation(["editor", "frame"]);
  const [text, setText] = useState("");
  const search = useDeferredValue(text.trim());
  const found = useInfiniteQuery(tablesQuery(source, search));
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const tables = found.data?.pages.flatMap((page) => page.items) ?? [];
  const toggle = (name: string) => {
    const next = new Set(open);
    if (!next.delete(name)) next.add(name);
    setOpen(next);
  };
  return (
    <section
      aria-label={t("editor:sql.tables")}
      className="flex max-h-[32rem] min-h-0 flex-col rounded-md border bg-panel lg:max-h-none"
    >
      <div className="flex items-center gap-1 border-b p-1.5">
        <div className="relative grow">
          <Search aria-hidden className="pointer-events-none absolute top-1.5 left-2 size-4 text-muted" />
          <input
            type="search"
            aria-label={t("editor:sql.searchTables")}
            placeholder={t("editor:sql.searchTables")}
            className={clsx(inputClass, "h-7 pl-7 text-sm")}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
        <IconButton
          small
          icon={RefreshCw}
          label={t("frame:refresh")}
          busy={found.isFetching}
          onClick={() => void found.refetch()}
        />
      </div>
      <Parameters parameters={parameters} onInsert={onInsert} />
      {found.error && <Failed error={found.error} again={() => void found.refetch()} className="m-2" />}
      {found.isPending && source && <Skeleton rows={4} />}
      <ul className="min-h-0 grow overflow-y-auto p-1">
        {tables.map((table) => {
          const name = nameOf(table);
          const isOpen = open.has(name) || (search !== "" && tables.length <= 3);
          const Icon = table.kind === "view" ? Eye : Table2;
          return (
            <li key={name}>
              <div className="flex items-center">
                <button
                  type="button"
                  aria-label={t("editor:sql.columnsOf", { name })}
                  aria-expanded={isOpen}
                  className="grid size-6 shrink-0 place-items-center rounded hover:bg-sunken"
                  onClick={() => toggle(name)}
                >
                  <ChevronRight aria-hidden className={clsx("size-3.5 text-muted", isOpen && "rotate-90")} />
                </button>
                <button
                  type="button"
                  draggable
                  data-table={table.name}
                  title={table.comment ?? undefined}
                  onDragStart={drag(name)}
                  onClick={() => onInsert(name)}
                  className={item}
                >
                  <Icon aria-hidden className="size-3.5 shrink-0 text-muted" />
                  <span className="truncate font-mono">{name}</span>
                </button>
              </div>
              {isOpen && (
                <ul className="ml-6 border-l pl-1">
                  {table.columns.map((column) => (
                    <li key={column.name}>
                      <button
                        type="button"
                        draggable
                        title={column.comment ?? undefined}
                        onDragStart={drag(quoted(column.name))}
                        onClick={() => onInsert(quoted(column.name))}
                        className={item}
                      >
                        <Columns3 aria-hidden className="size-3.5 shrink-0 text-muted" />
                        <span className="truncate font-mono">{column.name}</span>
                        <span className="ml-auto pl-2 text-xs text-muted">{column.type.toLowerCase()}</span>
                      </button>
                    </li>
                  ))}
                </ul>
              )}
            </li>
          );
        })}
        {found.data && tables.length === 0 && <li className="p-2 text-sm text-muted">{t("editor:sql.noTables")}</li>}
        {found.hasNextPage && (
          <li>
            <Button small look="quiet" busy={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
              {t("editor:sql.moreTables", { shown: tables.length, total: found.data?.pages[0]?.total ?? 0 })}
            </Button>
          </li>
        )}
      </ul>
      <p className="border-t px-2 py-1 text-xs text-muted">{t("editor:sql.dragHint")}</p>
    </section>
  );
}

function Parameters({ parameters, onInsert }: Pick<Props, "parameters" | "onInsert">) {
  const { t } = useTranslation("editor");
  const named = parameters.filter((one) => one.name.trim());
  return (
    <div className="border-b p-1">
      <p className="px-1.5 text-xs font-medium text-muted">{t("sql.parameters")}</p>
      {named.length === 0 && <p className="px-1.5 text-sm text-muted">{t("sql.noParameters")}</p>}
      <ul className="max-h-28 overflow-y-auto">
        {named.map(({ name, type }) => (
          <li key={name}>
            <button
              type="button"
              draggable
              title={t("sql.insertParameter", { name: `:${name}` })}
              onDragStart={drag(`:${name}`)}
              onClick={() => onInsert(`:${name}`)}
              className={item}
            >
              <Variable aria-hidden className="size-3.5 shrink-0 text-muted" />
              <span className="truncate font-mono">:{name}</span>
              <span className="ml-auto pl-2 text-xs text-muted">{type}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
