// One server in the list.

import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileDiff, KeyRound, RefreshCw, TriangleAlert } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Badge } from "../../ui/badge";
import { Button, buttonClass } from "../../ui/button";
import { messageOf } from "../../ui/states";
import { Switch } from "../../ui/switch";
import { toast } from "../../ui/toast";
import { reconnect, type ServerView, serverQuery, serversQuery, setDisabled, useServerChange } from "./queries";
import { Cause, StateBadge } from "./state";

export const pathOf = (name: string) => `/servers/${encodeURIComponent(name)}`;

/** Where it is or what it starts, in one line. */
export const placeOf = (server: ServerView) =>
  server.url ?? [server.command, ...(server.args ?? [])].filter(Boolean).join(" ");

const failed = (error: unknown) => toast(messageOf(error), { failed: true });

/** Switches at once and takes it back where the server refuses; a toast can undo it. */
export function useToggle() {
  const { t } = useTranslation(["servers", "frame"]);
  const queries = useQueryClient();
  const toggle = useServerChange(setDisabled);
  const set = (name: string, disabled: boolean, isUndo = false) => {
    const switched = (one: ServerView): ServerView => ({ ...one, disabled, state: disabled ? "disabled" : "starting" });
    queries.setQueryData(serversQuery.queryKey, (all) => all?.map((one) => (one.name === name ? switched(one) : one)));
    // Its own page asks for it alone.
    queries.setQueryData(serverQuery(name).queryKey, (one) => one && switched(one));
    // Told also to whoever has gone to another page: `mutate` would keep silent there.
    void toggle.mutateAsync({ name, disabled }).then(() => {
      if (isUndo) return;
      toast(t(disabled ? "switchedOff" : "switchedOn", { name }), {
        action: { label: t("frame:undo"), run: () => set(name, !disabled, true) },
      });
    }, failed);
  };
  return set;
}

export function ServerCard({ server, mayOperate }: { server: ServerView; mayOperate: boolean }) {
  const { t } = useTranslation(["servers", "frame"]);
  const again = useServerChange(reconnect);
  const toggle = useToggle();
  const hidden = Object.keys(server.hidden_letters);
  const canToggle = mayOperate && server.source === "database";
  const to = pathOf(server.name);
  return (
    <li
      data-status={server.state}
      className="grid min-w-0 grid-cols-1 content-start gap-2 rounded-lg border bg-panel p-4"
    >
      <div className="flex items-start gap-3">
        {canToggle && (
          <Switch
            on={!server.disabled}
            label={t("enable", { name: server.name })}
            onChange={(on) => toggle(server.name, !on)}
          />
        )}
        <div className="min-w-0 grow">
          <div className="flex flex-wrap items-center gap-2">
            <Link to={to} className="font-mono font-semibold no-underline hover:underline">
              {server.name}
            </Link>
            <StateBadge server={server} />
            <Badge>{server.transport}</Badge>
            {server.source === "file" && <Badge>mcp.json</Badge>}
          </div>
          <p className="mt-0.5 truncate font-mono text-xs text-muted" title={placeOf(server)}>
            {placeOf(server)}
          </p>
        </div>
        {mayOperate && !["disabled", "hidden", "stopped"].includes(server.state) && (
          <Button
            small
            icon={RefreshCw}
            busy={again.isPending}
            onClick={() => void again.mutateAsync(server.name).catch(failed)}
          >
            {t("reconnect")}
          </Button>
        )}
      </div>
      <p className="text-sm text-muted">
        {t("tools", { count: server.tools })} · {t("resources", { count: server.resources })} ·{" "}
        {t("prompts", { count: server.prompts })}
      </p>
      <Cause server={server} />
      <div className="flex flex-wrap gap-2 empty:hidden">
        {server.state === "auth_required" && server.sign_in && (mayOperate || server.sign_in.for === "user") && (
          <Link to={to} search={{ tab: "overview" } as never} className={buttonClass("primary", true)}>
            <KeyRound aria-hidden className="size-4" />
            {t("signIn.open")}
          </Link>
        )}
        {server.changed.length > 0 && (
          <Link to={to} search={{ tab: "changes" } as never} className={buttonClass("plain", true)}>
            <FileDiff aria-hidden className="size-4 text-warn" />
            {t("changed", { count: server.changed.length })}
          </Link>
        )}
        {hidden.length > 0 && (
          <Link to={to} search={{ tab: "changes" } as never} className={buttonClass("danger", true)}>
            <TriangleAlert aria-hidden className="size-4" />
            {t("hiddenLetters", { count: hidden.length })}
          </Link>
        )}
      </div>
    </li>
  );
}
