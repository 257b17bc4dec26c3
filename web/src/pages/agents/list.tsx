// Agents: a model, its instructions, and the tools it may use.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Bot, MessagesSquare, Plus } from "lucide-react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { useMay } from "../../api/me";
import { useAddress } from "../../search";
import { Badge } from "../../ui/badge";
import { Button, buttonClass } from "../../ui/button";
import { Select } from "../../ui/field";
import { Page } from "../../ui/page";
import { SearchBox } from "../../ui/search-box";
import { Empty, Failed, messageOf, Skeleton } from "../../ui/states";
import { Switch } from "../../ui/switch";
import { Cell, Row, Table } from "../../ui/table";
import { When } from "../../ui/time";
import { toast } from "../../ui/toast";
import { type Agent, agentsQuery, PROVIDERS } from "./queries";

function useToggle() {
  const { t } = useTranslation(["agents", "frame"]);
  const queries = useQueryClient();
  const toggle = useMutation({
    mutationFn: ({ agent, on }: { agent: Agent; on: boolean }) =>
      got(
        api.PATCH("/api/v1/agents/{name}", {
          params: { path: { name: agent.name } },
          body: { is_active: on } as never,
        }),
      ),
    // Shown at once; what the server says in the end counts.
    onMutate: ({ agent, on }) =>
      queries.setQueriesData<Agent[]>({ queryKey: ["agents", "list"] }, (before) =>
        before?.map((one) => (one.id === agent.id ? { ...one, is_active: on } : one)),
      ),
    onError: (error) => toast(messageOf(error), { failed: true }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["agents"] }),
  });
  return (agent: Agent, on: boolean) =>
    toggle.mutate(
      { agent, on },
      {
        onSuccess: () =>
          toast(t(on ? "switchedOn" : "switchedOff", { name: agent.name }), {
            action: { label: t("frame:undo"), run: () => toggle.mutate({ agent, on: !on }) },
          }),
      },
    );
}

export default function Agents() {
  const { t } = useTranslation(["agents", "frame"]);
  const [found, change] = useAddress();
  const navigate = useNavigate();
  const mayWrite = useMay("author");
  const agents = useQuery(agentsQuery({ q: found.q, provider: found.provider }));
  const toggle = useToggle();
  const all = agents.data ?? [];
  const isFiltered = !!(found.q || found.provider);
  const make = mayWrite && (
    <Link to={"/agents/new" as never} className={buttonClass("primary")}>
      <Plus aria-hidden className="size-4" />
      {t("new")}
    </Link>
  );
  return (
    <Page title={t("title")} about={t("about")} actions={make}>
      <search className="mb-4 flex flex-wrap items-center gap-2">
        <SearchBox label={t("search")} />
        <Select
          aria-label={t("provider")}
          className="w-auto!"
          value={found.provider ?? ""}
          onChange={(event) => change({ provider: event.target.value || undefined })}
        >
          <option value="">{t("anyProvider")}</option>
          {PROVIDERS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </Select>
      </search>
      {agents.error && <Failed error={agents.error} again={() => void agents.refetch()} />}
      {agents.isPending && <Skeleton />}
      {agents.data && all.length === 0 && (
        <Empty
          icon={Bot}
          title={isFiltered ? t("frame:nothingFits") : t("empty")}
          action={
            isFiltered ? (
              <Button look="primary" onClick={() => change({ q: undefined, provider: undefined })}>
                {t("frame:clearFilters")}
              </Button>
            ) : (
              <>
                {make}
                <Link to={"/playground" as never} className={buttonClass("plain")}>
                  <MessagesSquare aria-hidden className="size-4" />
                  {t("tryPlanner")}
                </Link>
              </>
            )
          }
        >
          {!isFiltered && t("emptyAbout")}
        </Empty>
      )}
      {all.length > 0 && (
        <Table
          label={t("title")}
          columns={[
            { label: t("active"), hidden: true },
            { label: t("frame:name") },
            { label: t("model") },
            { label: t("tools"), className: "hidden sm:table-cell" },
            { label: t("owner"), className: "hidden md:table-cell" },
            { label: t("updated"), className: "hidden md:table-cell" },
            { label: t("talk"), hidden: true },
          ]}
        >
          {all.map((agent) => (
            <Row
              key={agent.id}
              status={agent.is_active ? "on" : "off"}
              onOpen={() => void navigate({ to: `/agents/${encodeURIComponent(agent.name)}` as never })}
            >
              <Cell className="w-12">
                <Switch
                  on={agent.is_active}
                  disabled={!mayWrite}
                  label={t("toggle", { name: agent.name })}
                  onChange={(on) => toggle(agent, on)}
                />
              </Cell>
              <Cell>
                <Link
                  to={`/agents/${encodeURIComponent(agent.name)}` as never}
                  className="font-mono no-underline hover:underline"
                >
                  {agent.name}
                </Link>
                <span className="block text-sm text-muted">{agent.description}</span>
              </Cell>
              <Cell>
                <span className="block">{agent.model_name}</span>
                <span className="text-sm text-muted">{agent.model_provider}</span>
              </Cell>
              <Cell className="hidden sm:table-cell">
                {agent.tools.length === 0 ? <span className="text-muted">{t("frame:all")}</span> : agent.tools.length}
                {agent.tools_missing.length > 0 && (
                  <Badge tone="warn" className="ml-2">
                    {t("missingShort", { count: agent.tools_missing.length })}
                  </Badge>
                )}
              </Cell>
              <Cell className="hidden md:table-cell">{agent.owner}</Cell>
              <Cell className="hidden text-muted md:table-cell">
                <When at={agent.updated_at} />
              </Cell>
              <Cell className="text-right">
                <Link
                  to={"/playground" as never}
                  search={{ agent: agent.name } as never}
                  aria-label={t("talkTo", { name: agent.name })}
                  className={buttonClass("quiet", true)}
                >
                  <MessagesSquare aria-hidden className="size-4" />
                  <span className="hidden lg:inline">{t("talk")}</span>
                </Link>
              </Cell>
            </Row>
          ))}
        </Table>
      )}
    </Page>
  );
}
