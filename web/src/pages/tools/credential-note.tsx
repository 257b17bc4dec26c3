// Below a value that looks like a credential and stands where everybody reads it: says so, and seals it.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Lock } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { Button } from "../../ui/button";
import { Note } from "../../ui/note";
import { messageOf } from "../../ui/states";
import { toast } from "../../ui/toast";
import { secretName } from "./credentials";
import { secretsQuery } from "./queries";

type Props = {
  tool: string;
  name: string;
  value: string;
  /** Puts it where the tool shows who it is, where nothing stands there yet. */
  onAuth?: () => void;
  /** The value is kept as a secret of its own, and only named. */
  onSecret: (reference: { $secret: string }) => void;
};

export default function CredentialNote({ tool, name, value, onAuth, onSecret }: Props) {
  const { t } = useTranslation("request");
  const queries = useQueryClient();
  const taken = useQuery(secretsQuery).data;
  const [busy, setBusy] = useState(false);
  const keep = async () => {
    setBusy(true);
    try {
      const made = secretName(tool, name, taken ?? []);
      await got(api.PUT("/api/v1/secrets/{name}", { params: { path: { name: made } }, body: { value } }));
      void queries.invalidateQueries({ queryKey: ["secrets"] });
      onSecret({ $secret: made });
      toast(t("credential.kept", { name: made }));
    } catch (error) {
      toast(messageOf(error), { failed: true });
    }
    setBusy(false);
  };
  return (
    <Note
      tone="warn"
      className="text-sm"
      actions={
        <Button
          small
          icon={Lock}
          className="text-fg"
          busy={busy}
          disabled={!onAuth && !taken}
          onClick={() => (onAuth ? onAuth() : void keep())}
        >
          {t(onAuth ? "credential.seal" : "credential.keep")}
        </Button>
      }
    >
      {t("credential.open", { name })}
    </Note>
  );
}
