// How one signs in to a server that takes OAuth.

import { useTranslation } from "react-i18next";
import { Button } from "../../ui/button";
import { Field, Select, TextField } from "../../ui/field";
import { masked } from "../../ui/pairs";
import type { Draft } from "./draft";

type Props = { draft: Draft; set: (change: Partial<Draft>) => void; problem?: string };

export function AuthFields({ draft, set, problem }: Props) {
  const { t } = useTranslation(["servers", "frame"]);
  return (
    <fieldset className="grid gap-3">
      <Field label={t("form.auth")} problem={problem} className="max-w-sm">
        {(told) => (
          <Select {...told} value={draft.auth} onChange={(event) => set({ auth: event.target.value as Draft["auth"] })}>
            <option value="none">{t("form.authNone")}</option>
            <option value="server">{t("form.authServer")}</option>
            <option value="user">{t("form.authUser")}</option>
            <option value="machine">{t("form.authMachine")}</option>
          </Select>
        )}
      </Field>
      {draft.auth !== "none" && (
        <div className="grid gap-3 rounded-md border p-3 sm:grid-cols-2">
          <TextField
            label={t("form.issuer")}
            hint={t("form.issuerHint")}
            value={draft.issuer}
            placeholder="https://id.example.com"
            onChange={(event) => set({ issuer: event.target.value })}
          />
          <TextField
            label={t("form.scopes")}
            hint={t("form.scopesHint")}
            value={draft.scopes}
            onChange={(event) => set({ scopes: event.target.value })}
          />
          <TextField
            label={t("form.clientId")}
            value={draft.clientId}
            autoComplete="off"
            onChange={(event) => set({ clientId: event.target.value })}
          />
          {typeof draft.clientSecret === "string" ? (
            <TextField
              label={t("form.clientSecret")}
              type="password"
              autoComplete="new-password"
              value={draft.clientSecret}
              onChange={(event) => set({ clientSecret: event.target.value })}
            />
          ) : (
            <div className="grid content-start gap-1">
              <span className="text-sm font-medium">{t("form.clientSecret")}</span>
              <span className="flex items-center gap-2">
                <code>{masked(draft.clientSecret)}</code>
                <Button small look="quiet" onClick={() => set({ clientSecret: "" })}>
                  {t("frame:replace")}
                </Button>
              </span>
            </div>
          )}
        </div>
      )}
    </fieldset>
  );
}
