// A session that ended while somebody was at work: they log in where they are, and what they were doing goes on.

import { useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../api/client";
import { useMe } from "../api/me";
import { connection, endExpiry } from "../api/session";
import { Button } from "../ui/button";
import { TextField } from "../ui/field";
import { Dialog } from "../ui/overlay";
import { Failed } from "../ui/states";

export function LogInAgain() {
  const { t } = useTranslation();
  const me = useMe();
  const { expired } = useSyncExternalStore(connection.subscribe, connection.current);
  const [password, setPassword] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const logIn = async () => {
    setBusy(true);
    setError(null);
    try {
      await got(api.POST("/api/v1/login", { body: { name: me.user, password } }));
      setPassword("");
      endExpiry(true);
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
          void logIn();
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
          <Button onClick={() => endExpiry(true)}>{t("expired.done")}</Button>
          <Button look="primary" type="submit" busy={busy}>
            {t("logIn")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
