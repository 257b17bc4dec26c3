// Signing in to a server that wants it, and forgetting the token again.

import { ExternalLink, KeyRound, LogOut } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { Badge } from "../../ui/badge";
import { Button, buttonClass } from "../../ui/button";
import { Facts } from "../../ui/facts";
import { Note } from "../../ui/note";
import { Card } from "../../ui/page";
import { Failed } from "../../ui/states";
import { When } from "../../ui/time";
import { toast } from "../../ui/toast";
import { type ServerView, signIn, signOut, useServerChange } from "./queries";

export function SignIn({ server }: { server: ServerView }) {
  const { t } = useTranslation("servers");
  const mayOperate = useMay("operate");
  const mayCall = useMay("call");
  const begin = useServerChange(signIn);
  const forget = useServerChange(signOut, () => toast(t("signIn.forgotten", { name: server.name })));
  const view = server.sign_in;
  if (!view) return null;
  const isMine = view.for === "user";
  const may = isMine ? mayCall : mayOperate;
  const isMachine = view.grant === "client_credentials";
  const address = begin.data?.authorize_url;
  return (
    <Card
      title={t("signIn.title")}
      actions={
        <Badge tone={view.signed_in ? "ok" : "warn"} icon={KeyRound}>
          <span data-status={view.signed_in ? "signed-in" : "signed-out"}>
            {t(view.signed_in ? "signIn.in" : "signIn.out")}
          </span>
        </Badge>
      }
    >
      <div className="grid gap-3">
        <p className="text-muted">{t(isMachine ? "signIn.machine" : isMine ? "signIn.mine" : "signIn.all")}</p>
        <Facts
          facts={[
            [t("signIn.issuer"), view.issuer],
            [t("signIn.scopes"), view.scopes.join(" ")],
            [t("signIn.until"), view.expires_at && <When at={view.expires_at} />],
            [t("signIn.renewed"), view.signed_in && t(view.can_refresh ? "signIn.byItself" : "signIn.byHand")],
            [t("signIn.people"), view.people],
          ]}
        />
        {view.scopes_missing.length > 0 && (
          <Note tone="warn">{t("signIn.missing", { scopes: view.scopes_missing.join(" ") })}</Note>
        )}
        {begin.error && <Failed error={begin.error} />}
        {forget.error && <Failed error={forget.error} />}
        {address && !view.signed_in && (
          <Note
            tone="info"
            actions={
              <a href={address} target="_blank" rel="noreferrer" className={buttonClass("primary", true)}>
                <ExternalLink aria-hidden className="size-4" />
                {t("signIn.go")}
              </a>
            }
          >
            {t("signIn.goAbout")}
          </Note>
        )}
        {may ? (
          <div className="flex gap-2">
            {!isMachine && !(address && !view.signed_in) && (
              <Button
                look={view.signed_in ? "plain" : "primary"}
                icon={KeyRound}
                busy={begin.isPending}
                onClick={() => begin.mutate(server.name)}
              >
                {t(view.signed_in ? "signIn.again" : "signIn.open")}
              </Button>
            )}
            {view.signed_in && (
              <Button icon={LogOut} busy={forget.isPending} onClick={() => forget.mutate(server.name)}>
                {t("signIn.forget")}
              </Button>
            )}
          </div>
        ) : (
          <p className="text-sm text-muted">{t("signIn.notYou")}</p>
        )}
      </div>
    </Card>
  );
}
