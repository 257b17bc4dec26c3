// A toolset is made, looked at or changed: its tools, its patterns with what they fit now, what its clients are told.

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { Cable, Trash2 } from "lucide-react";
import { type FormEvent, lazy, Suspense, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { isCode } from "../../api/client";
import { problemAt } from "../../api/errors";
import { useMay, useMe } from "../../api/me";
import { useFitting } from "../../api/tool-search";
import { useKept } from "../../kept";
import { Badge } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { Choices } from "../../ui/choices";
import { CopyBlock } from "../../ui/copy";
import { Crumbs } from "../../ui/crumbs";
import { Check, Field, Select, TextArea, TextField } from "../../ui/field";
import { Fits } from "../../ui/fits";
import { Leaving } from "../../ui/leaving";
import { Note } from "../../ui/note";
import { Outdated } from "../../ui/outdated";
import { Card, Page } from "../../ui/page";
import { Restored } from "../../ui/restored";
import { useSaveKey } from "../../ui/save-key";
import { Failed, messageOf, Skeleton } from "../../ui/states";
import { toast } from "../../ui/toast";
import { ToolLines } from "../../ui/tool-lines";
import { argumentProblems, bodyOf, type Draft, draftOf, lacksTools, offered } from "./draft";
import { Entries, SEARCH } from "./entries";
import {
  create,
  pathOf,
  remove,
  replace,
  restore,
  type ToolName,
  type ToolsetView,
  toolsetQuery,
  useTools,
  useToolsetChange,
} from "./queries";

const Connect = lazy(() => import("../../shell/connect").then((it) => ({ default: it.Connect })));

type Part = { draft: Draft; set: (change: Partial<Draft>) => void; problem: (member: string) => string | undefined };

function Patterns({ draft, set, problem, known }: Part & { known: string[] }) {
  const { t } = useTranslation("toolsets");
  const fitting = [...useFitting(draft.isEvery ? ["*"] : draft.allow).values()];
  const now = offered(draft, [...new Set([...known, ...fitting.flatMap((one) => one.names)])]);
  const more = fitting.some((one) => one.isMore) ? "+" : "";
  return (
    <div className="grid gap-4">
      <div className="grid gap-4 lg:grid-cols-2">
        {!draft.isEvery && (
          <div className="grid content-start gap-2">
            <ToolLines
              label={t("allow")}
              hint={t("allowHint")}
              problem={problem("allow")}
              placeholder="files.*"
              value={draft.allow}
              onChange={(allow) => set({ allow })}
            />
            <Fits patterns={draft.allow} />
          </div>
        )}
        <div className="grid content-start gap-2">
          <ToolLines
            label={t("deny")}
            hint={t("denyHint")}
            problem={problem("deny")}
            placeholder="*.delete*"
            value={draft.deny}
            onChange={(deny) => set({ deny })}
          />
          <Fits patterns={draft.deny} />
        </div>
      </div>
      <details className="rounded-md border px-3 py-2">
        <summary className="font-medium">{t("offered", { count: now.length, more })}</summary>
        <ul className="mt-2 flex flex-wrap gap-1">
          {now.slice(0, 300).map((name, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two may have one name until it is saved
            <li key={at}>
              <Badge className="font-mono">{name}</Badge>
            </li>
          ))}
        </ul>
      </details>
    </div>
  );
}

function Clients({ draft, set, problem }: Part) {
  const { t } = useTranslation("toolsets");
  return (
    <div className="grid gap-4">
      <Field label={t("instructions")} hint={t("instructionsHint")} problem={problem("instructions")}>
        {(told) => (
          <TextArea
            {...told}
            value={draft.instructions}
            onChange={(event) => set({ instructions: event.target.value })}
          />
        )}
      </Field>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t("serverName")}
          placeholder="toolcrib"
          problem={problem("server_name")}
          value={draft.serverName}
          onChange={(event) => set({ serverName: event.target.value })}
        />
        <Field label={t("names")} problem={problem("names")}>
          {(told) => (
            <Select {...told} value={draft.names} onChange={(event) => set({ names: event.target.value })}>
              <option value="">{t("namesDefault")}</option>
              <option value="dotted">{t("namesDotted")}</option>
              <option value="plain">{t("namesPlain")}</option>
            </Select>
          )}
        </Field>
      </div>
      <div className="grid gap-1">
        <Check
          label={t("findTools")}
          checked={draft.findTools}
          onChange={(event) => set({ findTools: event.target.checked })}
        />
        <p className="pl-6 text-xs text-muted">{t("findToolsHint")}</p>
      </div>
      <div className="grid gap-1">
        <Check
          label={t("isPublic")}
          checked={draft.isPublic}
          onChange={(event) => set({ isPublic: event.target.checked })}
        />
        <p className="pl-6 text-xs text-muted">{t("isPublicHint")}</p>
      </div>
    </div>
  );
}

function Editor({ set: stored, tools, again }: { set?: ToolsetView; tools: ToolName[]; again: () => void }) {
  const { t } = useTranslation(["toolsets", "frame"]);
  const navigate = useNavigate();
  const me = useMe();
  const mayAuthor = useMay("author");
  const isAdmin = useMay("admin");
  const may = mayAuthor && (!stored || (stored.owner !== "system" && (isAdmin || stored.owner === me.user)));
  // The version it was written on is kept with it: what others saved since is not overwritten without a word.
  const kept = useKept(`toolset.${stored?.name ?? ""}`, { ...draftOf(stored, tools), version: stored?.version ?? 0 });
  const { draft, setDraft } = kept;
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }));
  const wrong = argumentProblems(draft);
  const save = useToolsetChange(
    (what: typeof draft) =>
      stored ? replace({ name: stored.name, body: bodyOf(what), version: what.version }) : create(bodyOf(what)),
    (after, what) => {
      const name = after.name;
      toast(t("saved", { name }));
      const next = { ...what, name, version: after.version };
      // What was written while it was being saved stays: here, or where somebody is brought.
      if (name === stored?.name) return kept.saved(what, next);
      kept.moved(what, next, `toolset.${name}`);
      void navigate({ to: pathOf(name), ignoreBlocker: true });
    },
  );
  const part: Part = { draft, set, problem: (member) => problemAt(save.error, member) };
  const { tools: known } = useTools(draft.rows.map((row) => row.tool));
  const [isTried, setTried] = useState(false);
  // Rows with a field that holds no value yet.
  const [unfinished, setUnfinished] = useState<ReadonlySet<number>>(new Set());
  const isBad = wrong.size > 0 || (!draft.isEvery && draft.rows.some((row) => unfinished.has(row.key)));
  const form = useSaveKey();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (lacksTools(draft)) return document.getElementById(SEARCH)?.focus();
    if (!isBad && !save.isPending) save.mutate(draft);
  };
  const finish = (key: number, isDone: boolean) =>
    setUnfinished((before) => {
      if (before.has(key) !== isDone) return before;
      const next = new Set(before);
      if (isDone) next.delete(key);
      else next.add(key);
      return next;
    });
  return (
    <form ref={form} onSubmit={submit} className="grid gap-4" noValidate>
      {!may && stored && (
        <Note tone="plain">{t(stored.owner === "system" ? "isBuiltIn" : "notYours", { owner: stored.owner })}</Note>
      )}
      {!kept.isOutdated && <Restored kept={kept} />}
      <Outdated kept={kept} shown={bodyOf} isRefused={save.isError} onGoOn={save.reset} />
      <Leaving {...kept.leaving} />
      {save.error && !kept.isOutdated && (
        <Failed error={save.error} again={isCode(save.error, "conflict") ? again : undefined} />
      )}
      <fieldset disabled={!may} className="contents">
        <Card>
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label={t("name")}
              hint={t("nameHint")}
              problem={part.problem("name")}
              required
              autoFocus={!stored}
              value={draft.name}
              onChange={(event) => set({ name: event.target.value })}
              spellCheck={false}
            />
            <TextField
              label={t("frame:description")}
              problem={part.problem("description")}
              value={draft.description}
              onChange={(event) => set({ description: event.target.value })}
            />
          </div>
        </Card>
        <Card title={t("tools")}>
          <div className="grid gap-4">
            <Choices
              label={t("whichTools")}
              value={draft.isEvery ? "every" : "only"}
              onChange={(which) => set({ isEvery: which === "every" })}
              choices={[
                { value: "only", label: t("onlyThese"), hint: t("onlyTheseHint") },
                { value: "every", label: t("everyChosen"), hint: t("everyHint") },
              ]}
            />
            {isTried && lacksTools(draft) ? (
              <p className="text-sm text-danger">{t("pickSome")}</p>
            ) : (
              part.problem("tools") && <p className="text-sm text-danger">{part.problem("tools")}</p>
            )}
            {!draft.isEvery && (
              <Entries
                isFixed={!may}
                rows={draft.rows}
                tools={known}
                problems={wrong}
                unfinished={unfinished}
                onChange={(change) => setDraft((before) => ({ ...before, rows: change(before.rows) }))}
                onFinish={finish}
              />
            )}
          </div>
        </Card>
        <Card title={t(draft.isEvery ? "exceptions" : "patterns")}>
          <Patterns {...part} known={[...known.keys()].filter((name) => known.get(name))} />
        </Card>
        <Card title={t("clients")}>
          <Clients {...part} />
        </Card>
      </fieldset>
      {may && (
        <div className="sticky bottom-0 -mx-1 flex gap-2 border-t bg-bg px-1 py-3">
          <Button look="primary" type="submit" busy={save.isPending} disabled={isBad}>
            {stored ? t("frame:save") : t("create")}
          </Button>
          <Button onClick={() => void navigate({ to: "/toolsets" })}>{t("frame:cancel")}</Button>
        </div>
      )}
    </form>
  );
}

function Actions({ set }: { set: ToolsetView }) {
  const { t } = useTranslation(["toolsets", "frame"]);
  const navigate = useNavigate();
  const me = useMe();
  const isAdmin = useMay("admin");
  const mayAuthor = useMay("author");
  const [connecting, setConnecting] = useState(false);
  const back = useToolsetChange(restore);
  // Also once nobody is here any more: what is taken back elsewhere has no other place to say that it failed.
  const failed = (error: unknown) => toast(messageOf(error), { failed: true });
  const gone = useToolsetChange(remove, () => {
    toast(t("removed", { name: set.name }), {
      action: { label: t("frame:undo"), run: () => void back.mutateAsync(set.id).catch(failed) },
    });
    void navigate({ to: "/toolsets" });
  });
  return (
    <>
      <Button icon={Cable} onClick={() => setConnecting(true)}>
        {t("frame:connect.open")}
      </Button>
      {mayAuthor && set.owner !== "system" && (isAdmin || set.owner === me.user) && (
        <IconButton
          icon={Trash2}
          label={t("remove")}
          busy={gone.isPending}
          onClick={() => void gone.mutateAsync(set.name).catch(failed)}
        />
      )}
      <Suspense>{connecting && <Connect open toolset={set.name} onClose={() => setConnecting(false)} />}</Suspense>
    </>
  );
}

export default function Toolset() {
  // The form's texts, too: a page that has to wait for them later would begin anew.
  const { t } = useTranslation(["toolsets", "frame", "form"]);
  const { name } = useParams({ strict: false }) as { name?: string };
  const asked = useQuery({ ...toolsetQuery(name ?? ""), enabled: !!name, staleTime: 0 });
  // Tools may be stored by id: their names come first.
  const tools = useTools((asked.data?.tools ?? []).map((entry) => (typeof entry === "string" ? entry : entry.tool)));
  const error = asked.error ?? tools.error;
  const isThere = !name || (asked.isFetchedAfterMount && !!asked.data);
  // An editor that is there stays while it is asked anew, as after a save: somebody may be writing in it. It goes on with the last
  // answer that is whole.
  const whole = useRef<{ key: string; set?: ToolsetView; tools: ToolName[] }>(null);
  const key = asked.data?.id ?? name ?? "new";
  if (!error && isThere && !tools.isPending)
    whole.current = { key, set: asked.data, tools: [...tools.tools.values()].filter((tool) => tool !== null) };
  const shown = whole.current?.key === key ? whole.current : undefined;
  return (
    <Page
      name={name ?? t("new")}
      title={
        <Crumbs to="/toolsets" label={t("title")}>
          {name ? <span className="font-mono">{name}</span> : t("new")}
        </Crumbs>
      }
      actions={asked.data && <Actions set={asked.data} />}
    >
      {!!error && <Failed error={error} again={() => void asked.refetch()} />}
      {!error && !shown && <Skeleton />}
      {shown && (
        <div className="grid gap-4">
          {asked.data && (
            <CopyBlock label={t("frame:connect.address")} text={`${location.origin}/mcp/${asked.data.name}`} />
          )}
          <Editor key={key} set={shown.set} tools={shown.tools} again={() => void asked.refetch()} />
        </div>
      )}
    </Page>
  );
}
