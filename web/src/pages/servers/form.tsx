// A server is added or changed: an address or a program, what it is shown, how it is watched.

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
import { Pairs } from "../../ui/pairs";
import { Restored } from "../../ui/restored";
import { useSaveKey } from "../../ui/save-key";
import { Failed, Skeleton } from "../../ui/states";
import { Still } from "../../ui/still";
import { AuthFields } from "./auth-fields";
import { pathOf } from "./card";
import { type Draft, definitionOf, draftOf, withoutSecrets } from "./draft";
import { create, replace, type ServerView, serverQuery, useServerChange } from "./queries";

function Form({ server, again }: { server?: ServerView; again?: () => void }) {
  const { t } = useTranslation(["servers", "frame"]);
  const navigate = useNavigate();
  const isAdmin = useMay("admin");
  const kept = useKept<Draft>(`server.${server?.name ?? ""}`, draftOf(server), withoutSecrets);
  const { draft, setDraft } = kept;
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }));
  const save = useServerChange(
    (what: Draft) => {
      const body = { name: what.name.trim(), ...definitionOf(what) };
      return server ? replace({ ...body, version: what.version }) : create(body);
    },
    (_, what) => {
      kept.done();
      void navigate({ to: pathOf(what.name.trim()) });
    },
  );
  const problem = (member: string) => problemAt(save.error, member);
  const form = useSaveKey();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(draft);
  };
  return (
    <form ref={form} onSubmit={submit} className="grid max-w-3xl gap-4" noValidate>
      <Outdated
        kept={kept}
        shown={(one) => definitionOf(withoutSecrets(one, kept.stored))}
        isRefused={save.isError}
        onGoOn={save.reset}
      />
      {!kept.isOutdated && <Restored kept={kept} secrets />}
      <Still busy={save.isPending}>
        <Card>
          <div className="grid gap-4">
            <TextField
              label={t("form.name")}
              hint={t("form.nameHint")}
              problem={problem("name")}
              required
              readOnly={!!server}
              autoFocus={!server}
              className="max-w-sm"
              value={draft.name}
              onChange={(event) => set({ name: event.target.value })}
              spellCheck={false}
            />
            <Field label={t("form.transport")} hint={t(`form.transportHint.${draft.transport}`)} className="max-w-sm">
              {(told) => (
                <Select
                  {...told}
                  value={draft.transport}
                  onChange={(event) => set({ transport: event.target.value as Draft["transport"] })}
                >
                  <option value="http">{t("form.http")}</option>
                  <option value="sse">{t("form.sse")}</option>
                  <option value="stdio">{t("form.stdio")}</option>
                </Select>
              )}
            </Field>
            {draft.transport === "stdio" ? (
              <>
                {!isAdmin && <Note tone="warn">{t("form.stdioAdmins")}</Note>}
                <TextField
                  label={t("form.command")}
                  hint={t("form.commandHint")}
                  problem={problem("command")}
                  required
                  placeholder="npx"
                  value={draft.command}
                  onChange={(event) => set({ command: event.target.value })}
                  spellCheck={false}
                />
                <Lines
                  exact
                  label={t("form.args")}
                  hint={t("form.argsHint")}
                  problem={problem("args")}
                  placeholder={"-y\n@modelcontextprotocol/server-filesystem\n/srv/docs"}
                  value={draft.args}
                  onChange={(args) => set({ args })}
                />
                <Pairs
                  label={t("form.env")}
                  addLabel={t("form.addEnv")}
                  hint={t("form.sealed")}
                  problem={problem("env")}
                  pairs={draft.env}
                  namePlaceholder="API_TOKEN"
                  onChange={(env) => set({ env })}
                />
                <TextField
                  label={t("form.cwd")}
                  problem={problem("cwd")}
                  value={draft.cwd}
                  onChange={(event) => set({ cwd: event.target.value })}
                  spellCheck={false}
                />
              </>
            ) : (
              <>
                <TextField
                  label={t("form.url")}
                  problem={problem("url")}
                  required
                  type="url"
                  placeholder={`https://mcp.example.com/${draft.transport === "sse" ? "sse" : "mcp"}`}
                  value={draft.url}
                  onChange={(event) => set({ url: event.target.value })}
                  spellCheck={false}
                />
                <Pairs
                  label={t("form.headers")}
                  addLabel={t("form.addHeader")}
                  hint={t("form.sealed")}
                  problem={problem("headers")}
                  pairs={draft.headers}
                  namePlaceholder="Authorization"
                  valuePlaceholder="Bearer …"
                  onChange={(headers) => set({ headers })}
                />
                <AuthFields draft={draft} set={set} problem={problem("auth")} />
              </>
            )}
          </div>
        </Card>
        <Card>
          <div className="grid gap-4 sm:grid-cols-2">
            <Field label={t("form.pinning")} hint={t("form.pinningHint")} problem={problem("pinning")}>
              {(told) => (
                <Select {...told} value={draft.pinning} onChange={(event) => set({ pinning: event.target.value })}>
                  <option value="">{t("form.pinningDefault")}</option>
                  <option value="flag">{t("pinningWord.flag")}</option>
                  <option value="approve">{t("pinningWord.approve")}</option>
                  <option value="off">{t("pinningWord.off")}</option>
                </Select>
              )}
            </Field>
            <TextField
              label={t("form.timeout")}
              problem={problem("timeout_seconds")}
              inputMode="decimal"
              value={draft.timeout}
              onChange={(event) => set({ timeout: event.target.value })}
            />
            <Check
              label={t("form.enabled")}
              checked={!draft.disabled}
              onChange={(event) => set({ disabled: !event.target.checked })}
            />
          </div>
        </Card>
      </Still>
      {save.error && !kept.isOutdated && (
        <Failed error={save.error} again={isCode(save.error, "conflict") ? again : undefined} />
      )}
      <div className="flex gap-2">
        <Button look="primary" type="submit" busy={save.isPending}>
          {server ? t("frame:save") : t("add")}
        </Button>
        <Button onClick={() => void navigate({ to: server ? pathOf(server.name) : "/servers" })}>
          {t("frame:cancel")}
        </Button>
      </div>
    </form>
  );
}

export default function EditServer() {
  const { t } = useTranslation(["servers", "frame"]);
  const { name } = useParams({ strict: false }) as { name?: string };
  const mayOperate = useMay("operate");
  const asked = useQuery({ ...serverQuery(name ?? ""), enabled: !!name, refetchInterval: false, staleTime: 0 });
  const title = name ? t("form.edit", { name }) : t("add");
  const isFile = asked.data?.source === "file";
  return (
    <Page
      name={title}
      title={
        <Crumbs to="/servers" label={t("title")}>
          {title}
        </Crumbs>
      }
    >
      <ReadOnly scope="operate" />
      {asked.error && <Failed error={asked.error} again={() => void asked.refetch()} />}
      {name && asked.isPending && <Skeleton />}
      {isFile && <Note tone="warn">{t("overview.fileAbout")}</Note>}
      {mayOperate && (!name || asked.isFetchedAfterMount) && !isFile && (!name || asked.data) && (
        <Form key={asked.data?.id ?? "new"} server={asked.data} again={() => void asked.refetch()} />
      )}
    </Page>
  );
}
