// A data source is added or changed: a SQLite file or a PostgreSQL, and what may be done with it.

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { useTranslation } from "react-i18next";
import { isCode } from "../../api/client";
import { problemAt } from "../../api/errors";
import { useMay } from "../../api/me";
import { useKept } from "../../kept";
import { Button } from "../../ui/button";
import { Crumbs } from "../../ui/crumbs";
import { Check, Field, Select, TextField } from "../../ui/field";
import { Lines } from "../../ui/lines";
import { Note, ReadOnly } from "../../ui/note";
import { Outdated } from "../../ui/outdated";
import { Card, Page } from "../../ui/page";
import { masked } from "../../ui/pairs";
import { Restored } from "../../ui/restored";
import { useSaveKey } from "../../ui/save-key";
import { Failed, Skeleton } from "../../ui/states";
import { Still } from "../../ui/still";
import { bodyOf, type Draft, draftOf, withoutSecrets } from "./draft";
import { create, replace, type SourceView, sourceQuery, useSourceChange } from "./queries";
import { pathOf } from "./state";

type Part = { draft: Draft; set: (change: Partial<Draft>) => void; problem: (member: string) => string | undefined };

function Password({ draft, set, problem }: Part) {
  const { t } = useTranslation(["sources", "frame"]);
  if (typeof draft.password === "object") {
    return (
      <div className="grid content-start gap-1">
        <span className="text-sm font-medium">{t("form.password")}</span>
        <span className="flex h-8 items-center gap-2">
          <code>{masked(draft.password)}</code>
          <Button small look="quiet" onClick={() => set({ password: "" })}>
            {t("frame:replace")}
          </Button>
        </span>
        {problem("password") && <p className="text-sm text-danger">{problem("password")}</p>}
        <p className="text-xs text-muted">{t("form.passwordKept")}</p>
      </div>
    );
  }
  return (
    <TextField
      label={t("form.password")}
      hint={t("form.passwordHint")}
      problem={problem("password")}
      type={draft.password.startsWith("${") ? "text" : "password"}
      autoComplete="new-password"
      value={draft.password}
      onChange={(event) => set({ password: event.target.value })}
    />
  );
}

function Postgres(part: Part) {
  const { draft, set, problem } = part;
  const { t } = useTranslation("sources");
  return (
    <>
      <TextField
        label={t("form.url")}
        hint={t("form.urlHint")}
        problem={problem("url")}
        required
        placeholder="postgres://reader@db.example.com:5432/shop"
        value={draft.url}
        onChange={(event) => set({ url: event.target.value })}
        spellCheck={false}
      />
      <Password {...part} />
      <Lines
        label={t("form.searchPath")}
        hint={t("form.searchPathHint")}
        problem={problem("search_path")}
        rows={2}
        placeholder="public"
        value={draft.searchPath}
        onChange={(searchPath) => set({ searchPath })}
      />
      <div className="grid gap-2">
        <Check
          label={t("form.pgbouncer")}
          checked={draft.pgbouncer}
          onChange={(event) => set({ pgbouncer: event.target.checked })}
        />
        <Check
          label={t("form.superuser")}
          checked={draft.superuser}
          onChange={(event) => set({ superuser: event.target.checked })}
        />
        {draft.superuser && <Note tone="danger">{t("form.superuserWarn")}</Note>}
      </div>
    </>
  );
}

function Rights({ draft, set, problem }: Part) {
  const { t } = useTranslation("sources");
  return (
    <div className="grid gap-4">
      <div className="grid gap-1">
        <Check
          label={t("form.allowWrite")}
          checked={draft.allowWrite}
          onChange={(event) => set({ allowWrite: event.target.checked })}
        />
        <p className="pl-6 text-xs text-muted">{t("form.allowWriteHint")}</p>
      </div>
      <Field label={t("authorsLabel")} problem={problem("authors")} className="max-w-sm">
        {(told) => (
          <Select {...told} value={draft.authors} onChange={(event) => set({ authors: event.target.value })}>
            <option value="admins">{t("authors.admins")}</option>
            <option value="everyone">{t("authors.everyone")}</option>
          </Select>
        )}
      </Field>
      <Lines
        label={t("form.functions")}
        hint={t("form.functionsHint")}
        problem={problem("functions")}
        rows={2}
        value={draft.functions}
        onChange={(functions) => set({ functions })}
      />
      <div className="grid max-w-sm grid-cols-2 gap-3">
        <TextField
          label={t("form.connectionsMin")}
          problem={problem("connections_min")}
          inputMode="numeric"
          value={draft.connectionsMin}
          onChange={(event) => set({ connectionsMin: event.target.value })}
        />
        <TextField
          label={t("form.connectionsMax")}
          problem={problem("connections_max")}
          inputMode="numeric"
          value={draft.connectionsMax}
          onChange={(event) => set({ connectionsMax: event.target.value })}
        />
      </div>
    </div>
  );
}

function Form({ source, again }: { source?: SourceView; again: () => void }) {
  const { t } = useTranslation(["sources", "frame"]);
  const navigate = useNavigate();
  const kept = useKept<Draft>(`source.${source?.name ?? ""}`, draftOf(source), withoutSecrets);
  const { draft, setDraft } = kept;
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }));
  const save = useSourceChange(
    (what: Draft) => (source ? replace({ body: bodyOf(what), version: what.version }) : create(bodyOf(what))),
    (_, what) => {
      kept.done();
      void navigate({ to: pathOf(what.name.trim()) });
    },
  );
  const part: Part = { draft, set, problem: (member) => problemAt(save.error, member) };
  const form = useSaveKey();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(draft);
  };
  return (
    <form ref={form} onSubmit={submit} className="grid max-w-3xl gap-4" noValidate>
      <Outdated
        kept={kept}
        shown={(one) => bodyOf(withoutSecrets(one, kept.stored))}
        isRefused={save.isError}
        onGoOn={save.reset}
      />
      {!kept.isOutdated && <Restored kept={kept} secrets />}
      <Still busy={save.isPending}>
        <Card>
          <div className="grid gap-4">
            <div className="grid gap-4 sm:grid-cols-2">
              <TextField
                label={t("name")}
                hint={t("form.nameHint")}
                problem={part.problem("name")}
                required
                readOnly={!!source}
                autoFocus={!source}
                value={draft.name}
                onChange={(event) => set({ name: event.target.value })}
                spellCheck={false}
              />
              <Field label={t("kind")} problem={part.problem("kind")}>
                {(told) => (
                  <Select
                    {...told}
                    value={draft.kind}
                    onChange={(event) => set({ kind: event.target.value as Draft["kind"] })}
                  >
                    <option value="sqlite">SQLite</option>
                    <option value="postgres">PostgreSQL</option>
                  </Select>
                )}
              </Field>
            </div>
            <TextField
              label={t("frame:description")}
              problem={part.problem("description")}
              value={draft.description}
              onChange={(event) => set({ description: event.target.value })}
            />
            {draft.kind === "sqlite" ? (
              <TextField
                label={t("form.path")}
                hint={t("form.pathHint")}
                problem={part.problem("path")}
                required
                placeholder="shop.db"
                value={draft.path}
                onChange={(event) => set({ path: event.target.value })}
                spellCheck={false}
              />
            ) : (
              <Postgres {...part} />
            )}
          </div>
        </Card>
        <Card title={t("form.rights")}>
          <Rights {...part} />
        </Card>
      </Still>
      {save.error && !kept.isOutdated && (
        <Failed error={save.error} again={isCode(save.error, "conflict") ? again : undefined} />
      )}
      <div className="flex gap-2">
        <Button look="primary" type="submit" busy={save.isPending}>
          {source ? t("frame:save") : t("add")}
        </Button>
        <Button onClick={() => void navigate({ to: source ? pathOf(source.name) : "/sources" })}>
          {t("frame:cancel")}
        </Button>
      </div>
    </form>
  );
}

export default function EditSource() {
  const { t } = useTranslation("sources");
  const { name } = useParams({ strict: false }) as { name?: string };
  const isAdmin = useMay("admin");
  const asked = useQuery({ ...sourceQuery(name ?? ""), enabled: !!name, staleTime: 0 });
  const title = name ? t("form.edit", { name }) : t("add");
  const isFixed = !!asked.data && asked.data.origin !== "database";
  const isThere = !name || (asked.isFetchedAfterMount && !!asked.data);
  return (
    <Page
      name={title}
      title={
        <Crumbs to="/sources" label={t("title")}>
          {title}
        </Crumbs>
      }
    >
      <ReadOnly scope="admin" />
      {asked.error && <Failed error={asked.error} again={() => void asked.refetch()} />}
      {name && asked.isPending && <Skeleton />}
      {isFixed && <Note tone="warn">{t("overview.file")}</Note>}
      {isAdmin && isThere && !isFixed && (
        <Form key={asked.data?.id ?? "new"} source={asked.data} again={() => void asked.refetch()} />
      )}
    </Page>
  );
}
