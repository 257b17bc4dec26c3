// What a list of tools is filtered by, with how many tools each choice would show.

import { useQuery } from "@tanstack/react-query";
import { SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { ToolCounts } from "../../api/schema";
import { type Search, useAddress } from "../../search";
import { Button } from "../../ui/button";
import { Select } from "../../ui/field";
import { useNarrow } from "../../ui/narrow";
import { SearchBox } from "../../ui/search-box";
import { countsQuery, KINDS, type ToolFilter } from "./queries";

const SHELVES = ["database", "file", "builtin", "server"] as const;
const RISKS = ["read_only", "writes", "destructive"] as const;
const STATES = ["on", "off", "trouble", "failing", "deleted"] as const;
/** In the address, beside the search. */
const FACETS = ["kind", "state", "shelf", "owner", "source", "server", "risk"] as const;

export const isFiltered = (found: Search) => ["q", ...FACETS].some((one) => found[one]);
export const NO_FILTER: Search = Object.fromEntries(["q", ...FACETS].map((one) => [one, undefined]));

type Props = {
  filter: ToolFilter;
  /** As they came with the list. */
  counts?: ToolCounts | null;
  /** Filtered by something else, too, which the server does not count. */
  isSieved: boolean;
  /** How many rows there are so far; none while the first are on their way. */
  loaded: number | undefined;
  isMore: boolean;
  /** Those that are not in the catalogue any more are found by their names only. */
  isDeleted: boolean;
};

export function ToolFilters({ filter, counts: given, isSieved, loaded, isMore, isDeleted }: Props) {
  const { t } = useTranslation(["tools", "frame"]);
  const [found, change] = useAddress();
  const asked = useQuery({ ...countsQuery(filter), enabled: isSieved }).data;
  const counts = isSieved ? asked : given;
  // On a narrow screen they would take the place of the tools.
  const isNarrow = useNarrow();
  const [isOpen, setOpen] = useState(false);
  const isShown = !isNarrow || isOpen;
  const facet = (
    name: (typeof FACETS)[number],
    label: string,
    options: Array<[string, string]>,
    known?: Record<string, number>,
  ) => (
    <Select
      aria-label={label}
      className="w-auto! max-w-44"
      value={found[name] ?? ""}
      onChange={(event) => change({ [name]: event.target.value || undefined })}
    >
      <option value="">
        {label}: {t("frame:all")}
      </option>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
          {known && ` (${known[value] ?? 0})`}
        </option>
      ))}
    </Select>
  );
  /** Of names that tools have, where any has one. */
  const named = (name: "owner" | "source" | "server", label: string) => {
    const names = [...new Set([...Object.keys(counts?.[name] ?? {}), found[name] ?? ""])].filter(Boolean).sort();
    // Where everything is one owner's, there is nothing to choose.
    if (names.length <= (name === "owner" ? 1 : 0)) return null;
    const options = names.map((one): [string, string] => [one, one]);
    return facet(name, label, options, counts?.[name]);
  };
  const kinds = KINDS.map((one): [string, string] => [one, t(`tools:kinds.${one}`)]);
  const states = STATES.map((one): [string, string] => [one, t(`tools:states.${one}`)]);
  const risks = RISKS.map((one): [string, string] => [one, t(`tools:risks.${one}`)]);
  const shelves = SHELVES.map((one): [string, string] => [one, t(`tools:shelves.${one}`)]);
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchBox label={t("tools:search")} className="min-w-64" />
      {isNarrow && (
        <Button icon={SlidersHorizontal} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t("tools:filters", { count: FACETS.filter((one) => found[one]).length })}
        </Button>
      )}
      {isShown && facet("state", t("tools:state"), states)}
      {isShown && !isDeleted && (
        <>
          {facet("kind", t("tools:kind"), kinds, counts?.kind)}
          {facet("risk", t("tools:risk"), risks, counts?.risk)}
          {facet("shelf", t("tools:shelf"), shelves, counts?.shelf)}
          {named("source", t("tools:source"))}
          {named("server", t("tools:server"))}
          {named("owner", t("tools:owner"))}
        </>
      )}
      {isFiltered(found) && (
        <Button look="quiet" onClick={() => change(NO_FILTER)}>
          {t("frame:clearFilters")}
        </Button>
      )}
      <span role="status" className="ml-auto text-sm text-muted tabular-nums">
        {loaded !== undefined &&
          (counts && !isSieved
            ? t("tools:count", { count: counts.total, more: "" })
            : t("tools:count", { count: loaded, more: isMore ? "+" : "" }))}
      </span>
    </div>
  );
}
