// What is done with several tools at once.

import { useQueryClient } from "@tanstack/react-query";
import { Download, ListChecks, Power, PowerOff, Trash2, X } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay, useMe } from "../../api/me";
import { writeExact } from "../../exact";
import { Button, IconButton } from "../../ui/button";
import { Confirm } from "../../ui/overlay";
import { messageOf } from "../../ui/states";
import { toast } from "../../ui/toast";
import { mayChange, removeTool, restoreTool, switchTool, type Tool } from "./queries";

type Props = {
  tools: Tool[];
  chosen: ReadonlySet<string>;
  onChoose: (chosen: ReadonlySet<string>) => void;
  /** There are more that fit than those in the list; this chooses them, too. */
  onWhole?: () => Promise<void>;
};

/** A few at a time, so that hundreds do not wait for each other and the server is not flooded. */
export async function each(
  names: string[],
  act: (name: string) => Promise<void>,
): Promise<{ done: string[]; failed: unknown[] }> {
  const done: string[] = [];
  const failed: unknown[] = [];
  const waiting = [...names];
  const worker = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      try {
        await act(name);
        done.push(name);
      } catch (error) {
        failed.push(error);
      }
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  return { done, failed };
}

export function BulkBar({ tools, chosen, onChoose, onWhole }: Props) {
  const { t } = useTranslation("tools");
  const queries = useQueryClient();
  const may = useMay("author");
  const me = useMe();
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState(false);
  const [widening, setWidening] = useState(false);
  // Only what is in the list now: a filter set afterwards takes the rest out of what is done.
  const these = tools.filter((tool) => chosen.has(tool.name));
  if (these.length === 0) return null;
  const free = these.filter((tool) => mayChange(tool, me));
  const names = free.map((tool) => tool.name);
  const fixed = these.length - names.length;
  // Only what is not so already is changed, and only that is changed back.
  const toTurn = (on: boolean) => free.filter((tool) => tool.is_active !== on).map((tool) => tool.name);
  const complain = (failed: unknown[]) => {
    if (failed.length > 0)
      toast(t("someFailed", { count: failed.length, why: messageOf(failed[0]) }), { failed: true });
  };
  const all = async (
    which: string[],
    act: (name: string) => Promise<void>,
    text: (count: number) => string,
    undo: (name: string) => Promise<void>,
  ) => {
    setBusy(true);
    const { done, failed } = await each(which, act);
    setBusy(false);
    const takeBack = async () => complain((await each(done, undo)).failed);
    if (done.length > 0) toast(text(done.length), { action: { label: t("undo"), run: () => void takeBack() } });
    complain(failed);
  };
  const turn = (on: boolean) =>
    all(
      toTurn(on),
      (name) => switchTool(queries, name, on),
      (count) => t(on ? "manyOn" : "manyOff", { count }),
      (name) => switchTool(queries, name, !on),
    );
  const remove = () =>
    all(
      names,
      (name) => removeTool(queries, name),
      (count) => t("manyRemoved", { count }),
      (name) => restoreTool(queries, name),
    );
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
      <span role="status" className="font-medium">
        {t("chosen", { count: these.length })}
      </span>
      {onWhole && (
        <Button small look="quiet" icon={ListChecks} busy={widening} onClick={() => void widen()}>
          {t("chooseWhole")}
        </Button>
      )}
      {fixed > 0 && <span className="text-sm">{t("fixed", { count: fixed })}</span>}
      <span className="grow" />
      {may && names.length > 0 && (
        <>
          <Button
            small
            icon={Power}
            busy={busy}
            disabled={toTurn(true).length === 0}
            onClick={() => void turn(true)}
            className="text-fg"
          >
            {t("turnOn")}
          </Button>
          <Button
            small
            icon={PowerOff}
            busy={busy}
            disabled={toTurn(false).length === 0}
            onClick={() => void turn(false)}
            className="text-fg"
          >
            {t("turnOff")}
          </Button>
          <Button small look="danger" icon={Trash2} busy={busy} onClick={() => setAsking(true)}>
            {t("delete")}
          </Button>
        </>
      )}
      <Button small icon={Download} onClick={save} className="text-fg">
        {t("export")}
      </Button>
      <IconButton small icon={X} label={t("chooseNone")} onClick={() => onChoose(new Set())} />
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={t("removeMany", { count: names.length })}
        action={t("delete")}
        onConfirm={remove}
      >
        {t("removeManyAbout")}
      </Confirm>
    </section>
  );
}
