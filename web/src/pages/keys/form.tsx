// A key is made: for whom, what it may do, until when. Then its text is shown, for the only time.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Cable } from "lucide-react";
import { type FormEvent, lazy, Suspense, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { problemAt } from "../../api/errors";
import { type Scope, useMay, useMe } from "../../api/me";
import type { KeyBody, NewKey } from "../../api/schema";
import { Button } from "../../ui/button";
import { CopyBlock } from "../../ui/copy";
import { Check, Field, Select, TextField } from "../../ui/field";
import { Note } from "../../ui/note";
import { Dialog } from "../../ui/overlay";
import { Failed } from "../../ui/states";
import { Suggest } from "../../ui/suggest";
import { subjectsQuery } from "../policies/queries";

const Connect = lazy(() => import("../../shell/connect").then((it) => ({ default: it.Connect })));

const SCOPES: Scope[] = ["read", "call", "author", "operate", "admin"];
const DAYS = [7, 30, 90, 365];

export function Made({ made, onClose }: { made: NewKey; onClose: () => void }) {
  const { t } = useTranslation(["keys", "frame"]);
  const [connecting, setConnecting] = useState(false);
  return (
    <Dialog
      open
      wide
      firm
      onClose={onClose}
      title={t("made.title", { name: made.name })}
      footer={
        <>
          <Button icon={Cable} onClick={() => setConnecting(true)}>
            {t("made.connect")}
          </Button>
          <Button look="primary" onClick={onClose}>
            {t("made.done")}
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        <Note tone="warn">{t("made.once")}</Note>
        <CopyBlock label={t("made.label")} text={made.key} />
        <CopyBlock label={t("made.try")} text={`curl -s ${location.origin}/api/v1/me -H "X-API-Key: ${made.key}"`} />
      </div>
      <Suspense>{connecting && <Connect open apiKey={made.key} onClose={() => setConnecting(false)} />}</Suspense>
    </Dialog>
  );
}

export function NewKeyForm({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation(["keys", "frame"]);
  const me = useMe();
  const isAdmin = useMay("admin");
  const queries = useQueryClient();
  const subjects = useQuery({ ...subjectsQuery, enabled: isAdmin });
  const [name, setName] = useState("");
  const [user, setUser] = useState("");
  const [scopes, setScopes] = useState<Scope[]>(["read", "call"]);
  const [days, setDays] = useState("90");
  const make = useMutation({
    mutationFn: (body: KeyBody) => got(api.POST("/api/v1/keys", { body })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ["keys"] }),
  });
  if (make.data) return <Made made={make.data} onClose={onClose} />;
  // What is being made is shown once, here.
  const leave = () => !make.isPending && onClose();
  // For somebody else any scope may be asked for: the server knows what their role allows.
  const offered = SCOPES.filter((scope) => isAdmin || me.scopes.includes(scope));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const expires = days ? new Date(Date.now() + Number(days) * 86_400_000).toISOString() : undefined;
    make.mutate({ name: name.trim(), scopes, user: user.trim() || undefined, expires_at: expires });
  };
  return (
    <Dialog open onClose={leave} title={t("new")} about={t("form.about")}>
      <form onSubmit={submit} className="grid gap-4" noValidate>
        {make.error && <Failed error={make.error} />}
        <TextField
          label={t("name")}
          hint={t("form.nameHint")}
          required
          placeholder="claude-desktop"
          problem={problemAt(make.error, "name")}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {isAdmin && (
          <Suggest
            label={t("user")}
            placeholder={me.user}
            hint={t("form.userHint")}
            problem={problemAt(make.error, "user")}
            options={subjects.data?.user ?? []}
            value={user}
            onChange={(event) => setUser(event.target.value)}
          />
        )}
        <fieldset className="grid gap-1.5">
          <legend className="mb-1 text-sm font-medium">{t("scopes")}</legend>
          {offered.map((scope) => (
            <Check
              key={scope}
              label={
                <>
                  <code>{scope}</code> <span className="text-muted">{t(`scope.${scope}`)}</span>
                </>
              }
              checked={scopes.includes(scope)}
              onChange={(event) =>
                setScopes(event.target.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
              }
            />
          ))}
          {problemAt(make.error, "scopes") && <p className="text-sm text-danger">{problemAt(make.error, "scopes")}</p>}
        </fieldset>
        <Field label={t("expires")} problem={problemAt(make.error, "expires_at")}>
          {(told) => (
            <Select {...told} value={days} onChange={(event) => setDays(event.target.value)}>
              {DAYS.map((count) => (
                <option key={count} value={count}>
                  {t("form.days", { count })}
                </option>
              ))}
              <option value="">{t("never")}</option>
            </Select>
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button disabled={make.isPending} onClick={leave}>
            {t("frame:cancel")}
          </Button>
          <Button look="primary" type="submit" busy={make.isPending} disabled={!name.trim() || scopes.length === 0}>
            {t("form.make")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
