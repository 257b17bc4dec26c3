// The editor of a query within the page. Loaded when one is shown.

import type { SQLNamespace } from "@codemirror/lang-sql";
import { useQuery } from "@tanstack/react-query";
import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import { useTranslation } from "react-i18next";
import { api, every, got } from "../../api/client";
import type { TableView } from "../sources/queries";
import { createSqlEditor, type Known, type SqlEditor } from "./sql-editor";

export type SqlHandle = { insert: (text: string) => void; selected: () => string; formatted: () => Promise<string> };

type Props = {
  ref?: Ref<SqlHandle>;
  value: string;
  onChange: (text: string) => void;
  source: string;
  dialect: "sqlite" | "postgres";
  known: Known[];
  onDeclare: (name: string) => void;
  onRun: () => void;
};

/** Every table, for completion: fetched once, behind what is seen. */
const useNamespace = (source: string) =>
  useQuery({
    queryKey: ["sources", source, "namespace"],
    enabled: source !== "",
    staleTime: 300_000,
    retry: false,
    queryFn: async (): Promise<SQLNamespace> => {
      const tables = (await every((cursor) =>
        got(
          api.GET("/api/v1/sources/{name}/schema", {
            params: { path: { name: source }, query: { limit: 500, cursor } },
          }),
        ),
      )) as TableView[];
      const all: Record<string, string[] | Record<string, string[]>> = {};
      for (const { schema, name, columns } of tables) {
        const names = columns.map((column) => column.name);
        if (!schema || schema === "main" || schema === "public") all[name] = names;
        else all[schema] = { ...(all[schema] as Record<string, string[]> | undefined), [name]: names };
      }
      return all;
    },
  }).data;

export default function SqlCode({ ref, value, onChange, source, dialect, known, onDeclare, onRun }: Props) {
  const { t } = useTranslation("editor");
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<SqlEditor>(null);
  const tables = useNamespace(source);
  const told = useRef({ onChange, onDeclare, onRun });
  told.current = { onChange, onDeclare, onRun };
  // biome-ignore lint/correctness/useExhaustiveDependencies: what else changes is told to the editor that is there
  useEffect(() => {
    const made = createSqlEditor({
      parent: place.current as HTMLDivElement,
      text: value,
      dialect,
      texts: {
        label: t("sql.query"),
        undeclared: (name) => t("sql.undeclared", { name }),
        declare: t("sql.declare"),
        start: "SELECT …",
      },
      onChange: (text) => told.current.onChange(text),
      onDeclare: (name) => told.current.onDeclare(name),
      onRun: () => told.current.onRun(),
    });
    made.setKnown(known);
    if (tables) made.setTables(tables);
    editor.current = made;
    return () => made.view.destroy();
  }, [dialect, t]);
  useEffect(() => editor.current?.setText(value), [value]);
  useEffect(() => editor.current?.setKnown(known), [known]);
  useEffect(() => {
    if (tables) editor.current?.setTables(tables);
  }, [tables]);
  useImperativeHandle(ref, () => ({
    insert: (text) => editor.current?.insert(text),
    selected: () => editor.current?.selected() ?? "",
    formatted: async () => (await import("./sql-format")).formatSql(value, dialect),
  }));
  return <div ref={place} className="h-full" />;
}
