// What is done with several tools at once.

import { useQueryClient } from "@tanstack/react-query";
import { Download, ListChecks, Power, PowerOff, Square, Trash2, X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay, useMe } from "../../api/me";
import { writeExact } from "../../exact";
import { Button, IconButton } from "../../ui/button";
import { Confirm } from "../../ui/overlay";
import { messageOf } from "../../ui/states";
import { toast } from "../../ui/toast";
import { useBulk } from "./bulk";
import { mayChange, removeOne, restoreOne, switchTool, type Tool, toolsCame, toolsWent } from "./queries";

type Props = {
  tools: Tool[];
  chosen: ReadonlySet<string>;
  onChoose: (chosen: ReadonlySet<string>) => void;
  /** There are more that fit than those in the list; this chooses them, too. */
  onWhole?: () => Promise<void>;
};

type Act = {
  names: string[];
  one: (name: string) => Promise<unknown>;
  /** What is told of so many. */
  text: (count: number) => string;
  undo: (name: string) => Promise<unknown>;
  /** Once for all of them. */
  after?: () => void;
  afterUndo?: () => void;
};

export function BulkBar({ tools, chosen, onChoose, onWhole }: Props) {
  const { t } = useTranslation("tools");
  const queries = useQueryClient();
  const may = useMay("author");
  const me = useMe();
  const { going, run, stop } = useBulk();
  const [asking, setAsking] = useState(false);
  const [widening, setWidening] = useState(false);
  // Only what is in the list now: a filter set afterwards takes the rest out of what is done.
  const these = tools.filter((tool) => chosen.has(tool.name));
  // What is deleted leaves the list, but not how far it is.
  if (these.length === 0 && !going) return null;
  const free = these.filter((tool) => mayChange(tool, me));
  const names = free.map((tool) => tool.name);
  const fixed = these.length - names.length;
  // Only what is not so already is changed, and only that is changed back.
  const toTurn = (on: boolean) => free.filter((tool) => tool.is_active !== on).map((tool) => tool.name);
  const complain = (failed: unknown[]) => {
    if (failed.length > 0)
      toast(t("someFailed", { count: failed.length, why: messageOf(failed[0]) }), { failed: true });
  };
  const act = async ({ names, one, text, undo, after, afterUndo }: Act) => {
    const { done, failed } = await run(names, one);
    after?.();
    const takeBack = async () => {
      const back = await run(done, undo);
      afterUndo?.();
      complain(back.failed);
    };
    const left = names.length - done.length - failed.length;
    const told = [text(done.length), left > 0 && t("stopped", { count: left })].filter(Boolean).join(" ");
    if (done.length > 0) toast(told, { action: { label: t("undo"), run: () => void takeBack() } });
    complain(failed);
  };
  const turn = (on: boolean) =>
    act({
      names: toTurn(on),
      one: (name) => switchTool(queries, name, on),
      text: (count) => t(on ? "manyOn" : "manyOff", { count }),
      undo: (name) => switchTool(queries, name, !on),
    });
  const remove = () =>
    act({
      names,
      one: (name) => removeOne(queries, name),
      text: (count) => t("manyRemoved", { count }),
      undo: restoreOne,
      after: () => void toolsWent(queries),
      afterUndo: () => void toolsCame(queries),
    });
  const widen = async () => {
    setWidening(true);
    await onWhole?.().catch((error: unknown) => complain([error]));
    setWidening(false);
  };
  const save = () => {
    const blob = new Blob([writeExact({ tools: these }, 2)], { type: "application/json" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = "tools.json";
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <section
      aria-label={t("bulk")}
      className="flex flex-wrap items-center gap-2 border-x border-t bg-accent-soft px-3 py-2 text-accent-text"
    >
      {going ? (
        <span className="flex items-center gap-2 font-medium tabular-nums">
          <progress
            aria-label={t("bulkProgress")}
            max={going.of}
            value={going.ended}
            className="h-2 w-40 accent-accent"
          />
          {t("bulkOf", { ended: going.ended, of: going.of })}
        </span>
      ) : (
        <span role="status" className="font-medium">
          {t("chosen", { count: these.length })}
        </span>
      )}
      {onWhole && !going && (
        <Button small look="quiet" icon={ListChecks} busy={widening} onClick={() => void widen()}>
          {t("chooseWhole")}
        </Button>
      )}
      {fixed > 0 && !going && <span className="text-sm">{t("fixed", { count: fixed })}</span>}
      <span className="grow" />
      {may && names.length > 0 && !going && (
        <>
          <Button
            small
            icon={Power}
            disabled={toTurn(true).length === 0}
            onClick={() => void turn(true)}
            className="text-fg"
          >
            {t("turnOn")}
          </Button>
          <Button
            small
            icon={PowerOff}
            disabled={toTurn(false).length === 0}
            onClick={() => void turn(false)}
            className="text-fg"
          >
            {t("turnOff")}
          </Button>
        </>
      )}
      {may && (names.length > 0 || going) && (
        // One button, so that the focus, which comes back to it from the question, is at what stops it.
        <Button
          small
          look="danger"
          icon={going ? Square : Trash2}
          disabled={going?.isStopping}
          onClick={() => (going ? stop() : setAsking(true))}
        >
          {t(going ? "stop" : "delete")}
        </Button>
      )}
      {!going && (
        <>
          <Button small icon={Download} onClick={save} className="text-fg">
            {t("export")}
          </Button>
          <IconButton small icon={X} label={t("chooseNone")} onClick={() => onChoose(new Set())} />
        </>
      )}
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={t("removeMany", { count: names.length })}
        action={t("delete")}
        // What it takes is shown in the bar, with a way to stop it.
        onConfirm={() => void remove()}
      >
        {t("removeManyAbout")}
      </Confirm>
    </section>
  );
}
