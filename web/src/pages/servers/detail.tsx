// One MCP server: how it is doing, what it offers, what it changed, what its program wrote.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Pencil, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { useAddress } from "../../search";
import { Badge } from "../../ui/badge";
import { Button, buttonClass, IconButton } from "../../ui/button";
import { CopyBlock } from "../../ui/copy";
import { Crumbs } from "../../ui/crumbs";
import { Facts } from "../../ui/facts";
import { Note } from "../../ui/note";
import { Confirm } from "../../ui/overlay";
import { Card, Page } from "../../ui/page";
import { masked } from "../../ui/pairs";
import { Failed, messageOf, Skeleton } from "../../ui/states";
import { Switch } from "../../ui/switch";
import { Tabs } from "../../ui/tabs";
import { When } from "../../ui/time";
import { toast } from "../../ui/toast";
import { pathOf, placeOf, useToggle } from "./card";
import { Changes } from "./changes";
import { Offers } from "./offers";
import { reconnect, remove, type ServerView, serverQuery, useServerChange } from "./queries";
import { SignIn } from "./sign-in";
import { Cause, StateBadge } from "./state";

const pairs = (stored: ServerView["headers"]) =>
  Object.entries(stored ?? {}).map(([name, value]) => (
    <div key={name} className="font-mono text-sm">
      {name}: {typeof value === "string" ? value : masked(value)}
    </div>
  ));

function Overview({ server }: { server: ServerView }) {
  const { t } = useTranslation("servers");
  const headers = pairs(server.headers);
  const env = pairs(server.env);
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Card title={t("overview.now")}>
        <div className="grid gap-3">
          <Facts
            facts={[
              [t("stateLabel"), <StateBadge key="state" server={server} />],
              [
                t("overview.since"),
                server.connected_seconds != null && (
                  <When key="since" at={new Date(Date.now() - server.connected_seconds * 1000).toISOString()} />
                ),
              ],
              [
                t("overview.calls"),
                server.server_info &&
                  `${server.server_info.title ?? server.server_info.name} ${server.server_info.version ?? ""}`,
              ],
              [t("overview.protocol"), server.protocol_version && `${server.protocol_version} (${server.era})`],
              [t("overview.pinning"), t(`pinningWord.${server.pinning_now as "off" | "flag" | "approve"}`)],
              [
                t("overview.instructions"),
                server.instructions && (
                  <p key="i" className="line-clamp-6 whitespace-pre-wrap">
                    {server.instructions}
                  </p>
                ),
              ],
            ]}
          />
          <Cause server={server} />
        </div>
      </Card>
      <Card title={t("overview.definition")}>
        <Facts
          facts={[
            [t("overview.from"), server.source === "file" ? "mcp.json" : t("overview.kept")],
            [t("form.transport"), server.transport],
            [server.url ? t("form.url") : t("form.command"), <code key="place">{placeOf(server)}</code>],
            [t("form.headers"), headers.length > 0 && headers],
            [t("form.env"), env.length > 0 && env],
            [t("form.cwd"), server.cwd],
            [t("form.timeout"), server.timeout_seconds],
            [t("overview.owner"), server.owner],
            [t("overview.updated"), server.updated_at && <When key="u" at={server.updated_at} />],
          ]}
        />
        {server.source === "file" && <p className="mt-3 text-sm text-muted">{t("overview.fileAbout")}</p>}
      </Card>
      <SignIn server={server} />
    </div>
  );
}

function Actions({ server }: { server: ServerView }) {
  const { t } = useTranslation(["servers", "frame"]);
  const navigate = useNavigate();
  const mayOperate = useMay("operate");
  const [removing, setRemoving] = useState(false);
  const again = useServerChange(reconnect);
  const gone = useServerChange(remove);
  const toggle = useToggle();
  if (!mayOperate) return null;
  const isOurs = server.source === "database";
  const failed = (error: unknown) => toast(messageOf(error), { failed: true });
  return (
    <>
      {isOurs && (
        <Switch
          on={!server.disabled}
          label={t("enable", { name: server.name })}
          onChange={(on) => toggle(server.name, !on)}
        />
      )}
      <Button icon={RefreshCw} busy={again.isPending} onClick={() => void again.mutateAsync(server.name).catch(failed)}>
        {t("reconnect")}
      </Button>
      {isOurs && (
        <>
          <Link to={`${pathOf(server.name)}/edit`} className={buttonClass()}>
            <Pencil aria-hidden className="size-4" />
            {t("frame:edit")}
          </Link>
          <IconButton icon={Trash2} label={t("remove.open")} onClick={() => setRemoving(true)} />
          <Confirm
            open={removing}
            onClose={() => setRemoving(false)}
            title={t("remove.title", { name: server.name })}
            action={t("remove.open")}
            onConfirm={async () => {
              await gone.mutateAsync(server.name);
              void navigate({ to: "/servers" });
            }}
          >
            {t("remove.about", { count: server.tools })}
          </Confirm>
        </>
      )}
    </>
  );
}

export default function Server() {
  const { t } = useTranslation(["servers", "frame"]);
  const { name = "" } = useParams({ strict: false }) as { name?: string };
  const [found, change] = useAddress();
  const asked = useQuery(serverQuery(name));
  const server = asked.data;
  const tab = (id: string, label: string, count?: number) => (
    <span className="flex items-center gap-1.5">
      {label}
      {!!count && <Badge tone={id === "changes" ? "warn" : "plain"}>{count}</Badge>}
    </span>
  );
  return (
    <Page
      name={name}
      title={
        <Crumbs to="/servers" label={t("title")}>
          <span className="flex items-center gap-2">
            <span className="font-mono">{name}</span>
            {server && <StateBadge server={server} />}
          </span>
        </Crumbs>
      }
      actions={server && <Actions server={server} />}
    >
      {asked.error && <Failed error={asked.error} again={() => void asked.refetch()} />}
      {asked.isPending && <Skeleton />}
      {server && (
        <>
          {server.state === "auth_required" && server.sign_in && found.tab && found.tab !== "overview" && (
            <Note
              tone="warn"
              className="mb-3"
              actions={
                <Button small look="quiet" onClick={() => change({ tab: undefined })}>
                  {t("signIn.open")}
                </Button>
              }
            >
              {t("hint.signIn")}
            </Note>
          )}
          <Tabs
            label={name}
            open={found.tab ?? "overview"}
            onOpen={(id) => change({ tab: id === "overview" ? undefined : id, q: undefined })}
            tabs={[
              { id: "overview", label: t("tab.overview"), content: <Overview server={server} /> },
              {
                id: "tools",
                label: tab("tools", t("tab.tools"), server.tools),
                content: <Offers server={server} kind="tools" />,
              },
              {
                id: "resources",
                label: tab("resources", t("tab.resources"), server.resources + server.resource_templates),
                content: <Offers server={server} kind="resources" />,
              },
              {
                id: "prompts",
                label: tab("prompts", t("tab.prompts"), server.prompts),
                content: <Offers server={server} kind="prompts" />,
              },
              {
                id: "changes",
                label: tab("changes", t("tab.changes"), server.changed.length),
                content: <Changes server={server} />,
              },
              ...(server.stderr
                ? [
                    {
                      id: "log",
                      label: t("tab.log"),
                      content: <CopyBlock label={t("logAbout")} text={server.stderr} />,
                    },
                  ]
                : []),
            ]}
          />
        </>
      )}
    </Page>
  );
}
