// Named secrets that tools refer to: their names, never their values.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Lock, Plus, RefreshCw, ShieldCheck, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { problemAt } from "../../api/errors";
import { useMay } from "../../api/me";
import type { SecretView } from "../../api/schema";
import { secretsQuery } from "../../api/secrets";
import { useAddress } from "../../search";
import { Button, IconButton } from "../../ui/button";
import { TextField } from "../../ui/field";
import { Note } from "../../ui/note";
import { Confirm, Dialog } from "../../ui/overlay";
import { masked } from "../../ui/pairs";
import { SearchBox } from "../../ui/search-box";
import { Empty, Failed, Skeleton } from "../../ui/states";
import { Cell, Row, Table } from "../../ui/table";
import { When } from "../../ui/time";
import { toast } from "../../ui/toast";
import { fits } from "../../words";

function SetSecret({ name: given, onClose }: { name: string | null; onClose: () => void }) {
  const { t } = useTranslation(["settings", "frame"]);
  const queries = useQueryClient();
  const [name, setName] = useState(given ?? "");
  const [value, setValue] = useState("");
  const set = useMutation({
    mutationFn: () =>
      got(api.PUT("/api/v1/secrets/{name}", { params: { path: { name: name.trim() } }, body: { value } })),
    onSuccess: () => {
      toast(t("secrets.saved", { name: name.trim() }));
      void queries.invalidateQueries({ queryKey: ["secrets"] });
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set.mutate();
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={given ? t("secrets.replaceOf", { name: given }) : t("secrets.set")}
      about={t("secrets.sealed")}
    >
      <form onSubmit={submit} className="grid gap-4" noValidate>
        {set.error && <Failed error={set.error} />}
        <TextField
          label={t("frame:name")}
          required
          readOnly={!!given}
          placeholder="github_token"
          problem={problemAt(set.error, "name")}
          value={name}
          onChange={(event) => setName(event.target.value)}
          spellCheck={false}
        />
        <TextField
          label={t("frame:value")}
          required
          type="password"
          autoComplete="new-password"
          problem={problemAt(set.error, "value")}
          value={value}
          onChange={(event) => setValue(event.target.value)}
        />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("frame:cancel")}</Button>
          <Button look="primary" type="submit" busy={set.isPending} disabled={!name.trim() || !value}>
            {t("frame:save")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const NAMED = 3;

/** The first few of what uses it; all of them on demand. */
function UsedBy({ names }: { names: string[] }) {
  const { t } = useTranslation("settings");
  const [isAll, setAll] = useState(false);
  if (names.length === 0) return "—";
  const more = names.length - NAMED;
  return (
    <>
      <span className="font-mono text-sm">{(isAll ? names : names.slice(0, NAMED)).join(", ")}</span>
      {more > 0 && (
        <button type="button" className="ml-2 text-sm text-accent-text hover:underline" onClick={() => setAll(!isAll)}>
          {isAll ? t("secrets.fewer") : t("secrets.moreTools", { count: more })}
        </button>
      )}
    </>
  );
}

/** One that tools use is only removed when its name is typed. */
function RemoveSecret({ secret, onClose }: { secret: SecretView; onClose: () => void }) {
  const { t } = useTranslation("settings");
  const queries = useQueryClient();
  const used = secret.used_by.length > 0;
  const remove = useMutation({
    mutationFn: (force: boolean) =>
      got(api.DELETE("/api/v1/secrets/{name}", { params: { path: { name: secret.name }, query: { force } } })),
    onSuccess: () => {
      toast(t("secrets.removed", { name: secret.name }));
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ["secrets"] }),
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={t("secrets.removeOf", { name: secret.name })}
      action={t(used ? "secrets.force" : "secrets.remove")}
      typed={used ? secret.name : undefined}
      onConfirm={() => remove.mutateAsync(used)}
    >
      <p>{t(used ? "secrets.usedBy" : "secrets.removeAbout")}</p>
      {used && (
        <p className="mt-1">
          <UsedBy names={secret.used_by} />
        </p>
      )}
    </Confirm>
  );
}

function Sealing() {
  const { t } = useTranslation("settings");
  const queries = useQueryClient();
  const verify = useMutation({ mutationFn: () => got(api.GET("/api/v1/secrets/verify")) });
  const rotate = useMutation({
    mutationFn: () => got(api.POST("/api/v1/secrets/rotate")),
    onSettled: () => void queries.invalidateQueries({ queryKey: ["secrets"] }),
  });
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap gap-2">
        <Button icon={ShieldCheck} busy={verify.isPending} onClick={() => verify.mutate()}>
          {t("secrets.verify")}
        </Button>
        <Button icon={RefreshCw} busy={rotate.isPending} onClick={() => rotate.mutate()}>
          {t("secrets.rotate")}
        </Button>
      </div>
      {(verify.error ?? rotate.error) && <Failed error={verify.error ?? rotate.error} />}
      {verify.data && (
        <Note tone={verify.data.valid ? "info" : "danger"}>
          {verify.data.valid
            ? t("secrets.valid", { count: verify.data.secrets })
            : t("secrets.invalid", { count: verify.data.problems.length })}
        </Note>
      )}
      {rotate.data && (
        <Note tone={rotate.data.left > 0 ? "warn" : "info"}>
          {t("secrets.rotated", { count: rotate.data.rotated, key: rotate.data.key_id, left: rotate.data.left })}
        </Note>
      )}
    </div>
  );
}

export function Secrets() {
  const { t } = useTranslation(["settings", "frame"]);
  const [found, change] = useAddress();
  const isAdmin = useMay("admin");
  const secrets = useQuery(secretsQuery);
  const [setting, setSetting] = useState<{ name: string | null } | null>(null);
  const [removing, setRemoving] = useState<SecretView | null>(null);
  const all = secrets.data ?? [];
  const shown = all.filter((secret) => fits(found.q, secret.name, secret.owner));
  const add = (
    <Button look="primary" icon={Plus} onClick={() => setSetting({ name: null })}>
      {t("secrets.set")}
    </Button>
  );
  return (
    <div className="grid gap-3">
      <p className="text-muted">{t("secrets.about")}</p>
      {secrets.error && <Failed error={secrets.error} again={() => void secrets.refetch()} />}
      {secrets.isPending && <Skeleton rows={3} />}
      {secrets.data && all.length === 0 && (
        <Empty icon={Lock} title={t("secrets.empty")} action={add}>
          {t("secrets.emptyAbout")}
        </Empty>
      )}
      {all.length > 0 && (
        <div className="flex flex-wrap items-center gap-2">
          <SearchBox />
          <span className="grow" />
          {add}
        </div>
      )}
      {all.length > 0 && shown.length === 0 && (
        <Empty
          title={t("frame:nothingFits")}
          action={<Button onClick={() => change({ q: undefined })}>{t("frame:clearFilters")}</Button>}
        />
      )}
      {shown.length > 0 && (
        <Table
          label={t("tab.secrets")}
          columns={[
            { label: t("frame:name") },
            { label: t("frame:value") },
            { label: t("secrets.owner") },
            { label: t("secrets.tools") },
            { label: t("secrets.updated") },
            { label: t("secrets.actions"), hidden: true },
          ]}
        >
          {shown.map((secret) => (
            <Row key={`${secret.owner}-${secret.name}`}>
              <Cell className="font-mono font-medium">{secret.name}</Cell>
              <Cell className="font-mono text-muted">{masked(secret.value)}</Cell>
              <Cell>{secret.owner}</Cell>
              <Cell className="max-w-md text-muted">
                <UsedBy names={secret.used_by} />
              </Cell>
              <Cell className="text-muted">
                <When at={secret.updated_at} />
              </Cell>
              <Cell>
                <span className="flex justify-end gap-1">
                  <Button
                    small
                    look="quiet"
                    aria-label={t("secrets.replaceOf", { name: secret.name })}
                    onClick={() => setSetting({ name: secret.name })}
                  >
                    {t("frame:replace")}
                  </Button>
                  <IconButton
                    small
                    icon={Trash2}
                    label={t("secrets.removeOf", { name: secret.name })}
                    onClick={() => setRemoving(secret)}
                  />
                </span>
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {isAdmin && all.length > 0 && <Sealing />}
      {setting && <SetSecret name={setting.name} onClose={() => setSetting(null)} />}
      {removing && <RemoveSecret secret={removing} onClose={() => setRemoving(null)} />}
    </div>
  );
}
