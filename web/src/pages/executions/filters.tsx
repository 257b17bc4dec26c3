// What the list of calls is filtered by. All of it stands in the address.

import { X } from "lucide-react";
import { memo, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { useStats } from "../../api/stats";
import type { Search } from "../../search";
import { spanLength, spanOf } from "../../span";
import { Button } from "../../ui/button";
import { Input, Select } from "../../ui/field";
import { OwnSpan } from "./own-span";
import { type Execution, NO_FILTER, SPANS, STATUSES, STEPS, USUAL_SPAN, WAYS } from "./queries";

type Props = { found: Search; now: number; onChange: (change: Search) => void; loaded: Execution[] };

const OFFERED = 300;
const NONE: string[] = [];

const Offered = memo(({ id, names }: { id: string; names: string[] }) => (
  <datalist id={id}>
    {names.slice(0, OFFERED).map((name) => (
      <option key={name} value={name} />
    ))}
  </datalist>
));

/** A name to filter by: typed or picked, taken when it is one of those offered, on Enter, or when one goes on. */
export function NameFilter({
  value,
  offered,
  label,
  onChange,
}: {
  value: string;
  offered: string[];
  label: string;
  onChange: (name: string) => void;
}) {
  const [typed, setTyped] = useState<string>();
  // What is offered is drawn for whoever is about to type, not with every other filter.
  const [isHere, setHere] = useState(false);
  // Going back, or Clear filters, changes the filter behind the field; whoever is typing goes on with their own text.
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    if (!isHere) setTyped(undefined);
  }
  const text = typed ?? value;
  const id = `offered-${label.replaceAll(/\s/g, "-")}`;
  const take = (name: string) => name.trim() !== value && onChange(name.trim());
  return (
    <>
      <Input
        type="search"
        list={id}
        aria-label={label}
        placeholder={label}
        value={text}
        className="min-w-28 flex-1 sm:w-44 sm:flex-none"
        onChange={(event) => {
          setTyped(event.target.value);
          if (event.target.value === "" || offered.includes(event.target.value)) take(event.target.value);
        }}
        onKeyDown={(event) => event.key === "Enter" && !event.nativeEvent.isComposing && take(text)}
        onFocus={() => setHere(true)}
        onBlur={() => {
          setHere(false);
          take(text);
        }}
      />
      <Offered id={id} names={isHere ? offered : NONE} />
    </>
  );
}

export function Filters({ found, now, onChange, loaded }: Props) {
  const { t } = useTranslation(["executions", "frame", "codes"]);
  const isAdmin = useMay("admin");
  // The same question as the bars ask while nothing is filtered.
  const span = useMemo(() => spanOf(found.since || USUAL_SPAN, found.until, now), [found.since, found.until, now]);
  const stats = useStats(span, STEPS);
  const tools = useMemo(
    () => [...new Set(stats.data?.tools.map((tool) => tool.tool_name) ?? loaded.map((one) => one.tool_name))],
    [stats.data, loaded],
  );
  const callers = useMemo(() => stats.data?.callers.map((one) => one.caller) ?? [], [stats.data]);
  const since = found.since || USUAL_SPAN;
  const isOwn = found.until !== undefined || (since !== "all" && spanLength(since) === undefined);
  const offered = [...SPANS, ...(isOwn || SPANS.some((one) => one === since) ? [] : [since])];
  const isFiltered = ["status", "tool", "caller", "transport", "since", "until"].some((key) => found[key]);
  return (
    <search className="flex flex-wrap items-center gap-2">
      <Select
        aria-label={t("filter.status")}
        className="w-auto!"
        value={found.status ?? ""}
        onChange={(event) => onChange({ status: event.target.value || undefined })}
      >
        <option value="">{t("filter.anyStatus")}</option>
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {t(`status.${status}`)}
          </option>
        ))}
      </Select>
      <Select
        aria-label={t("filter.way")}
        className="w-auto!"
        value={found.transport ?? ""}
        onChange={(event) => onChange({ transport: event.target.value || undefined })}
      >
        <option value="">{t("filter.anyWay")}</option>
        {WAYS.map((way) => (
          <option key={way} value={way}>
            {way.includes(",") ? t("filter.notTried") : t(`codes:way.${way as "mcp"}`)}
          </option>
        ))}
      </Select>
      <Select
        aria-label={t("filter.time")}
        className="w-auto!"
        value={isOwn ? "own" : since}
        onChange={(event) => {
          const { from, to } = spanOf(since, found.until);
          if (event.target.value === "own")
            onChange({ since: new Date(from).toISOString(), until: new Date(to).toISOString() });
          else onChange({ since: event.target.value, until: undefined });
        }}
      >
        {offered.map((one) => (
          <option key={one} value={one}>
            {one in { "15m": 0, "1h": 0, "24h": 0, "7d": 0, "30d": 0, all: 0 }
              ? t(`span.${one as (typeof SPANS)[number]}`)
              : one}
          </option>
        ))}
        <option value="own">{t("span.own")}</option>
      </Select>
      {isOwn && <OwnSpan found={found} onChange={onChange} />}
      <NameFilter
        label={t("filter.tool")}
        value={found.tool ?? ""}
        offered={tools}
        onChange={(tool) => onChange({ tool: tool || undefined })}
      />
      {isAdmin && (
        <NameFilter
          label={t("filter.caller")}
          value={found.caller ?? ""}
          offered={callers}
          onChange={(caller) => onChange({ caller: caller || undefined })}
        />
      )}
      {isFiltered && (
        <Button look="quiet" icon={X} onClick={() => onChange(NO_FILTER)}>
          {t("frame:clearFilters")}
        </Button>
      )}
    </search>
  );
}
