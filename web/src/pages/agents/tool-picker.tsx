// The tools an agent may use: every one, or those that are picked from among all. They are kept by id and shown by name, also
// those that are gone.

import { useQueries, useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { Plus, TriangleAlert, X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { ApiError } from "../../api/errors";
import { useGoneNames } from "../../api/gone-tools";
import { IconButton } from "../../ui/button";
import { Choices } from "../../ui/choices";
import { Input } from "../../ui/field";
import { Note } from "../../ui/note";
import { usePickFirst } from "../../ui/pick-first";
import { Failed } from "../../ui/states";

const SHOWN = 30;
const PROBLEM = "agent-tools-problem";
/** Where whoever picked nothing is led. */
export const SEARCH = "agent-tools-search";

type Props = {
  isEvery: boolean;
  chosen: string[];
  /** Those that were gone when the agent was read. */
  gone: string[];
  onChange: (change: { isEvery?: boolean; tools?: string[] }) => void;
  problem?: string;
};

function Chosen({ chosen, gone, onChange }: Pick<Props, "chosen" | "gone"> & { onChange: (ids: string[]) => void }) {
  const { t } = useTranslation("agents");
  const named = useQueries({
    queries: chosen.map((id) => ({
      queryKey: ["tools", "one", id],
      queryFn: () => got(api.GET("/api/v1/tools/{name}", { params: { path: { name: id } } })),
      // What is known to be gone is not asked for.
      enabled: !gone.includes(id),
      staleTime: 60_000,
      retryOnMount: false,
    })),
  });
  const isGone = (id: string, at: number) => {
    const error = named[at]?.error;
    return gone.includes(id) || (error instanceof ApiError && error.status === 404);
  };
  const lost = chosen.filter(isGone);
  const lostNames = useGoneNames(lost);
  return (
    <>
      {lost.length > 0 && (
        <Note tone="warn">{t(lost.length === chosen.length ? "allGone" : "someGone", { count: lost.length })}</Note>
      )}
      <ul className="flex flex-wrap gap-1.5" aria-label={t("chosenTools")}>
        {chosen.map((id, at) => {
          const isLost = lost.includes(id);
          const name = named[at]?.data?.name ?? lostNames.get(id) ?? "…";
          return (
            <li
              key={id}
              data-status={isLost ? "gone" : "there"}
              className={clsx(
                "inline-flex items-center gap-1 rounded-md pl-2",
                isLost ? "bg-warn-soft text-warn" : "bg-accent-soft text-accent-text",
              )}
            >
              {isLost && <TriangleAlert aria-hidden className="size-3.5" />}
              <span className="font-mono text-sm" title={isLost ? id : undefined}>
                {name}
              </span>
              {isLost && <span className="text-sm">({t("gone")})</span>}
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
    </>
  );
}

export function ToolPicker({ isEvery, chosen, gone, onChange, problem }: Props) {
  const { t } = useTranslation("agents");
  const [q, setQ] = useState("");
  const found = useQuery({
    queryKey: ["tools", "pick", q],
    queryFn: ({ signal }) =>
      got(api.GET("/api/v1/tools", { params: { query: { q: q || undefined, limit: SHOWN } }, signal })),
    placeholderData: (before) => before,
    enabled: !isEvery,
  });
  const offered = found.data?.items.filter((tool) => !chosen.includes(tool.id)) ?? [];
  const add = (id: string) => onChange({ tools: [...chosen, id] });
  const isKnown = found.isSuccess && !found.isPlaceholderData;
  const keys = usePickFirst(q, isKnown, offered[0], (tool) => {
    add(tool.id);
    setQ("");
  });
  return (
    <fieldset className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <legend className="sr-only">{t("tools")}</legend>
      <Choices
        label={t("whichTools")}
        value={isEvery ? "every" : "only"}
        onChange={(which) => onChange({ isEvery: which === "every" })}
        choices={[
          { value: "only", label: t("onlyThese"), hint: t("onlyTheseHint") },
          { value: "every", label: t("everyTool"), hint: t("everyToolHint") },
        ]}
      />
      {problem && (
        <p id={PROBLEM} className="text-sm text-danger">
          {problem}
        </p>
      )}
      {!isEvery && (
        <>
          {chosen.length > 0 && <Chosen {...{ chosen, gone }} onChange={(tools) => onChange({ tools })} />}
          <Input
            id={SEARCH}
            type="search"
            aria-label={t("searchTools")}
            aria-describedby={problem ? PROBLEM : undefined}
            aria-invalid={problem ? true : undefined}
            placeholder={t("searchTools")}
            value={q}
            onChange={(event) => setQ(event.target.value)}
            {...keys}
          />
          {found.error && <Failed error={found.error} />}
          <ul className="max-h-72 divide-y overflow-y-auto rounded-md border" aria-label={t("offeredTools")}>
            {offered.map((tool) => (
              <li key={tool.id} className="flex items-center gap-2 px-3 py-1.5">
                <span className="shrink-0 font-mono text-sm">{tool.name}</span>
                <span className="min-w-0 grow truncate text-sm text-muted">{tool.description}</span>
                <IconButton small icon={Plus} label={t("addTool", { name: tool.name })} onClick={() => add(tool.id)} />
              </li>
            ))}
            {found.data && offered.length === 0 && <li className="px-3 py-3 text-sm text-muted">{t("noTool")}</li>}
          </ul>
        </>
      )}
    </fieldset>
  );
}
