// The tools an agent may use: searched for among all, and shown by name though they are kept by id.

import { useQueries, useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { IconButton } from "../../ui/button";
import { Input } from "../../ui/field";
import { Failed } from "../../ui/states";

const SHOWN = 30;

export function ToolPicker({
  chosen,
  onChange,
  problem,
}: {
  chosen: string[];
  onChange: (ids: string[]) => void;
  problem?: string;
}) {
  const { t } = useTranslation("agents");
  const [q, setQ] = useState("");
  const found = useQuery({
    queryKey: ["tools", "pick", q],
    queryFn: ({ signal }) =>
      got(api.GET("/api/v1/tools", { params: { query: { q: q || undefined, limit: SHOWN } }, signal })),
    placeholderData: (before) => before,
  });
  const named = useQueries({
    queries: chosen.map((id) => ({
      queryKey: ["tools", "one", id],
      queryFn: () => got(api.GET("/api/v1/tools/{name}", { params: { path: { name: id } } })),
      staleTime: 60_000,
    })),
  });
  const offered = found.data?.items.filter((tool) => !chosen.includes(tool.id)) ?? [];
  return (
    <fieldset className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <legend className="sr-only">{t("tools")}</legend>
      {chosen.length === 0 ? (
        <p className="text-sm text-muted">{t("everyTool")}</p>
      ) : (
        <ul className="flex flex-wrap gap-1.5" aria-label={t("chosenTools")}>
          {chosen.map((id, at) => {
            const name = named[at]?.data?.name ?? id;
            return (
              <li key={id} className="inline-flex items-center gap-1 rounded-md bg-accent-soft pl-2 text-accent-text">
                <span className="font-mono text-sm">{name}</span>
                <IconButton
                  small
                  icon={X}
                  label={t("removeTool", { name })}
                  onClick={() => onChange(chosen.filter((one) => one !== id))}
                />
              </li>
            );
          })}
        </ul>
      )}
      {problem && <p className="text-sm text-danger">{problem}</p>}
      <Input
        type="search"
        aria-label={t("searchTools")}
        placeholder={t("searchTools")}
        value={q}
        onChange={(event) => setQ(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
      />
      {found.error && <Failed error={found.error} />}
      <ul className="max-h-72 divide-y overflow-y-auto rounded-md border" aria-label={t("offeredTools")}>
        {offered.map((tool) => (
          <li key={tool.id} className="flex items-center gap-2 px-3 py-1.5">
            <span className="shrink-0 font-mono text-sm">{tool.name}</span>
            <span className="min-w-0 grow truncate text-sm text-muted">{tool.description}</span>
            <IconButton
              small
              icon={Plus}
              label={t("addTool", { name: tool.name })}
              onClick={() => onChange([...chosen, tool.id])}
            />
          </li>
        ))}
        {found.data && offered.length === 0 && <li className="px-3 py-3 text-sm text-muted">{t("noTool")}</li>}
      </ul>
    </fieldset>
  );
}
