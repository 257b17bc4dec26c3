// The policy: its rules as sentences in their order, the JSON they come to, what a change would do before it is saved.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { FlaskConical, Plus } from "lucide-react";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { isCode } from "../../api/client";
import { useMay } from "../../api/me";
import type { PolicyView } from "../../api/schema";
import { writeExact } from "../../exact";
import { useKept } from "../../kept";
import { Button } from "../../ui/button";
import { CopyButton } from "../../ui/copy";
import { Diff } from "../../ui/diff";
import { Leaving } from "../../ui/leaving";
import { Note, NotToSee } from "../../ui/note";
import { Outdated } from "../../ui/outdated";
import { Card, Page } from "../../ui/page";
import { Restored } from "../../ui/restored";
import { Failed, Skeleton } from "../../ui/states";
import { toast } from "../../ui/toast";
import { ToolLines } from "../../ui/tool-lines";
import { Consequences } from "./consequences";
import { Explain } from "./explain";
import { type Policy, policyQuery, save, tidy, tryOut } from "./queries";
import { RuleForm } from "./rule-form";
import { Rules } from "./rules";

type Editing = { at: number | null };

const contentOf = ({ rules, whitelist }: Pick<Policy, "rules" | "whitelist">) => ({
  ...(whitelist && { whitelist }),
  rules: rules.map(tidy),
});

type EditorProps = { stored: PolicyView; reload: () => void; onUnsaved: (isUnsaved: boolean) => void };

function Editor({ stored, reload, onUnsaved }: EditorProps) {
  const { t } = useTranslation(["policies", "frame"]);
  const queries = useQueryClient();
  // The version it was written on is kept with it: what others saved since is not overwritten without a word.
  const kept = useKept("policy", {
    rules: stored.rules,
    whitelist: stored.whitelist ?? null,
    version: stored.version,
  });
  const { rules, whitelist, version } = kept.draft;
  const [editing, setEditing] = useState<Editing | null>(null);
  const draft: Policy = { rules: rules.map(tidy), whitelist, version };
  const before = contentOf(kept.stored);
  const after = contentOf(draft);
  const isChanged = writeExact(before) !== writeExact(after);
  useEffect(() => onUnsaved(isChanged), [isChanged, onUnsaved]);
  const trial = useMutation({ mutationFn: tryOut });
  const saving = useMutation({
    mutationFn: (sent: typeof kept.draft) => save({ ...sent, rules: sent.rules.map(tidy) }),
    onSuccess: ({ rules, whitelist, version }, sent) => {
      // What was changed while it was being saved stays, as a change of that.
      kept.saved(sent, { rules, whitelist: whitelist ?? null, version });
      trial.reset();
      toast(t("saved"));
      void queries.invalidateQueries({ queryKey: ["policy"] });
    },
  });
  const change = (some: Partial<typeof kept.draft>) => {
    kept.setDraft((before) => ({ ...before, ...some }));
    trial.reset();
    saving.reset();
  };
  const error = saving.error ?? trial.error;
  return (
    <div className="grid gap-4">
      {!kept.isOutdated && <Restored kept={kept} />}
      <Outdated kept={kept} shown={contentOf} isRefused={saving.isError} onGoOn={saving.reset} />
      <Leaving {...kept.leaving} dirty={isChanged} />
      <div className="grid gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Card
          title={t("rules")}
          actions={
            <Button small icon={Plus} onClick={() => setEditing({ at: null })}>
              {t("form.add")}
            </Button>
          }
        >
          <div className="grid gap-3">
            <p className="text-sm text-muted">{t("rulesAbout")}</p>
            <Rules
              rules={rules}
              error={error}
              onChange={(next) => change({ rules: next })}
              onEdit={(at) => setEditing({ at })}
              onNew={() => setEditing({ at: null })}
            />
            <details open={whitelist !== null} className="rounded-md border px-3 py-2">
              <summary className="font-medium">{t("whitelist.title")}</summary>
              <div className="mt-2 grid gap-2">
                {!stored.enforced && <Note tone="plain">{t("whitelist.notEnforced")}</Note>}
                <ToolLines
                  label={t("whitelist.label")}
                  hint={t("whitelist.hint")}
                  value={whitelist ?? []}
                  onChange={(names) => change({ whitelist: names.length > 0 ? names : null })}
                />
              </div>
            </details>
          </div>
        </Card>
        <Card title={t("json")} actions={<CopyButton text={writeExact(after, 2)} />}>
          <Diff before={isChanged ? before : after} after={after} label={t("json")} whole />
          <p className="mt-2 text-xs text-muted">{t("version", { version: kept.stored.version })}</p>
        </Card>
      </div>
      {isChanged && (
        <Card title={t("unsaved")}>
          <div className="grid gap-3">
            <p className="text-muted">{t("unsavedAbout")}</p>
            {error && <Failed error={error} again={isCode(error, "conflict") ? reload : undefined} />}
            {trial.data && <Consequences found={trial.data} />}
            <div className="flex flex-wrap gap-2">
              <Button
                look={trial.data ? "plain" : "primary"}
                icon={FlaskConical}
                busy={trial.isPending}
                onClick={() => trial.mutate(draft)}
              >
                {t("dryRun.open")}
              </Button>
              <Button
                look={trial.data ? "primary" : "plain"}
                disabled={!trial.data}
                busy={saving.isPending}
                onClick={() => saving.mutate(kept.draft)}
              >
                {t("frame:save")}
              </Button>
              <Button
                look="quiet"
                onClick={() => {
                  kept.discard();
                  trial.reset();
                  saving.reset();
                }}
              >
                {t("discard")}
              </Button>
            </div>
          </div>
        </Card>
      )}
      {editing && (
        <RuleForm
          rules={rules}
          rule={editing.at === null ? null : (rules[editing.at] ?? null)}
          onClose={() => setEditing(null)}
          onDone={(rule) => {
            change({
              rules: editing.at === null ? [...rules, rule] : rules.map((one, at) => (at === editing.at ? rule : one)),
            });
            setEditing(null);
          }}
        />
      )}
    </div>
  );
}

export default function PolicyPage() {
  const { t } = useTranslation("policies");
  const isAdmin = useMay("admin");
  const policy = useQuery({ ...policyQuery, enabled: isAdmin, refetchOnWindowFocus: false });
  const [isUnsaved, setUnsaved] = useState(false);
  return (
    <Page title={t("title")} about={t("about")}>
      <div className="grid gap-4">
        <Explain isUnsaved={isUnsaved} />
        <NotToSee scope="admin" />
        {policy.error && <Failed error={policy.error} again={() => void policy.refetch()} />}
        {isAdmin && policy.isPending && <Skeleton />}
        {policy.data && <Editor stored={policy.data} reload={() => void policy.refetch()} onUnsaved={setUnsaved} />}
      </div>
    </Page>
  );
}
