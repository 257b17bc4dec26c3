// A call beside the list: J and K go to the next and the one before, as the list is filtered.

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ChevronDown, ChevronUp, Maximize2 } from "lucide-react";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { type Shortcut, useShortcuts } from "../../keys";
import type { Search } from "../../search";
import { IconButton } from "../../ui/button";
import { Drawer } from "../../ui/overlay";
import { Failed, Skeleton } from "../../ui/states";
import { Detail, DetailActions } from "./detail";
import { type Execution, executionQuery } from "./queries";

type Props = {
  id: string;
  items: Execution[];
  tab: string | undefined;
  onChange: (change: Search) => void;
  onNearEnd: () => void;
};

export function Peek({ id, items, tab, onChange, onNearEnd }: Props) {
  const { t } = useTranslation(["executions", "frame"]);
  const navigate = useNavigate();
  const at = items.findIndex((one) => one.id === id);
  const listed = items[at];
  const found = useQuery({ ...executionQuery(id), placeholderData: listed });
  const next = at < 0 ? undefined : items[at + 1]?.id;
  const previous = at < 0 ? undefined : items[at - 1]?.id;
  const shortcuts = useMemo<Shortcut[]>(() => {
    const go = (to: string | undefined) => {
      if (to) onChange({ peek: to });
      if (at >= items.length - 5) onNearEnd();
    };
    return [
      { id: "peek-next", keys: "j", label: t("next"), above: true, run: () => go(next) },
      { id: "peek-previous", keys: "k", label: t("previous"), above: true, run: () => go(previous) },
      {
        id: "peek-open",
        keys: "o",
        label: t("fullPage"),
        above: true,
        run: () => void navigate({ to: `/executions/${id}` as never }),
      },
    ];
  }, [t, next, previous, at, items.length, onNearEnd, onChange, navigate, id]);
  useShortcuts(shortcuts);
  const one = found.data;
  return (
    <Drawer
      open
      onClose={() => onChange({ peek: undefined, tab: undefined })}
      title={<span className="font-mono">{one?.tool_name ?? t("one")}</span>}
      actions={
        <>
          <IconButton
            small
            icon={ChevronUp}
            label={`${t("previous")} (K)`}
            disabled={!previous}
            onClick={shortcuts[1]!.run}
          />
          <IconButton
            small
            icon={ChevronDown}
            label={`${t("next")} (J)`}
            disabled={!next}
            onClick={shortcuts[0]!.run}
          />
          <IconButton small icon={Maximize2} label={`${t("fullPage")} (O)`} onClick={shortcuts[2]!.run} />
        </>
      }
      footer={one && <DetailActions one={one} />}
    >
      {found.error && <Failed error={found.error} again={() => void found.refetch()} />}
      {!one && found.isPending && <Skeleton />}
      {one && <Detail one={one} tab={tab} onTab={(open) => onChange({ tab: open })} />}
    </Drawer>
  );
}
