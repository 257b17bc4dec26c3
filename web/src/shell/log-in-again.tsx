// A session that ended while somebody was at work: they log in where they are, and what they were doing goes on. Where somebody
// else has logged in, nothing goes on: what the first one sent must not be done in the other's name.

import { useQueryClient } from "@tanstack/react-query";
import { useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { api, got, refusal } from "../api/client";
import { type Me, meQuery, useMe } from "../api/me";
import { connection, endExpiry } from "../api/session";
import { Button } from "../ui/button";
import { TextField } from "../ui/field";
import { Dialog } from "../ui/overlay";
import { Failed } from "../ui/states";

/** Asked past the client, which would wait here for somebody to log in. */
async function whoIsThere(): Promise<Me> {
  const answer = await fetch("/api/v1/me", { cache: "no-store" });
  const body: unknown = await answer.json().catch(() => undefined);
  if (!answer.ok) throw await refusal(answer.status, body);
  return body as Me;
}

export function LogInAgain() {
  const { t } = useTranslation();
  const me = useMe();
  const { expired } = useSyncExternalStore(connection.subscribe, connection.current);
  const [password, setPassword] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const queries = useQueryClient();
  const goOn = async (logIn?: () => Promise<unknown>) => {
    setBusy(true);
    setError(null);
    try {
      await logIn?.();
      const now = await whoIsThere();
      setPassword("");
      if (now.user === me.user) {
        // They may have got another role meanwhile.
        queries.setQueryData(meQuery.queryKey, now);
        endExpiry(true);
      } else {
        endExpiry(false);
        location.reload();
      }
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog open={expired} onClose={() => endExpiry(false)} title={t("expired.title")} about={t("expired.about")}>
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          void goOn(() => got(api.POST("/api/v1/login", { body: { name: me.user, password } })));
        }}
      >
        <TextField label={t("name")} value={me.user} readOnly autoComplete="username" />
        <TextField
          label={t("password")}
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        {error !== null && <Failed error={error} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={() => window.open("/login", "_blank")}>{t("expired.otherWay")}</Button>
          <Button onClick={() => void goOn()}>{t("expired.done")}</Button>
          <Button look="primary" type="submit" busy={busy}>
            {t("logIn")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
