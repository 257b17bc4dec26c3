// A tool of an MCP server under a name and a description of one's own, with some of its arguments set beforehand.

import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useCallback, useEffect, useId, useMemo, useRef } from "react";
import { useTranslation } from "react-i18next";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Field, Select } from "../../ui/field";
import { Note } from "../../ui/note";
import { SchemaForm, type Values } from "../../ui/schema-form";
import { Failed } from "../../ui/states";
import { Suggest } from "../../ui/suggest";
import { serversQuery } from "../servers/queries";
import { parametersOf, withUnread } from "./draft";
import type { StepProps } from "./editor-state";
import { JsonText } from "./json-text";
import { type Offer, offersQuery } from "./queries";
import { without } from "./set-config";
import { schemaOfOffer } from "./start";

export function LogicMcp({ draft, change, problem }: StepProps) {
  const { t } = useTranslation(["programs", "servers"]);
  const { config } = draft;
  const server = String(config.server_name ?? "");
  const name = String(config.tool_name ?? "");
  const servers = useQuery(serversQuery);
  const offers = useQuery(offersQuery(server));
  const offer = offers.data?.find((one) => one.name === name);
  // The tool of each server that was looked at: whoever comes back to one finds it again.
  const names = useRef<Record<string, string>>({});
  const chooseServer = (next: string) => {
    names.current[server] = name;
    change({ config: { ...config, server_name: next, tool_name: names.current[next] ?? "" } });
  };
  const take = () => {
    if (!offer) return;
    const pinned = new Set(Object.keys((config.arguments as object | undefined) ?? {}));
    const { parameters, schemaRest } = parametersOf(schemaOfOffer(offer));
    change({
      parameters: parameters.filter((one) => !pinned.has(one.name)),
      schemaRest,
      description: draft.description || (offer.description ?? ""),
      name: draft.name || name,
    });
  };
  return (
    <div className="grid gap-4">
      {servers.data?.length === 0 && <Note>{t("mcp.noServers")}</Note>}
      <div className="grid items-start gap-3 md:grid-cols-2">
        <Field label={t("mcp.server")} required problem={problem("config.server_name")}>
          {(told) => (
            <Select {...told} value={server} onChange={(event) => chooseServer(event.target.value)}>
              <option value="">{t("mcp.chooseServer")}</option>
              {server && !servers.data?.some((one) => one.name === server) && <option>{server}</option>}
              {servers.data?.map((one) => (
                <option key={one.name} value={one.name}>
                  {one.name} ({t(`servers:state.${one.state as "connected"}`)})
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Suggest
          label={t("mcp.tool")}
          required
          problem={problem("config.tool_name")}
          value={name}
          options={(offers.data ?? []).map((one) => ({ value: one.name, label: one.description?.slice(0, 80) ?? "" }))}
          onChange={(event) => change({ config: { ...config, tool_name: event.target.value } })}
        />
      </div>
      {offers.error && <Failed error={offers.error} again={() => void offers.refetch()} />}
      {offer && (
        <div className="grid gap-2 rounded-md border p-3">
          <div className="flex items-center gap-2">
            <span className="font-mono font-medium">{offer.name}</span>
            <Badge>{t("mcp.arguments", { count: Object.keys(schemaOfOffer(offer).properties ?? {}).length })}</Badge>
            <span className="grow" />
            <Button small icon={Download} onClick={take}>
              {t("mcp.take")}
            </Button>
          </div>
          <p className="text-sm whitespace-pre-wrap text-muted">{offer.description}</p>
        </div>
      )}
      <Pinned offer={offer} draft={draft} change={change} problem={problem} />
    </div>
  );
}

const ARGUMENTS = "config.arguments";
/** Something in the form is no value yet; the form itself knows what. */
const IN_FORM = "config.arguments of the form";

/** As the server describes its tool, or as JSON where it does not, or where that is what was begun. */
function Pinned({
  offer,
  draft,
  change,
  problem,
}: Pick<StepProps, "draft" | "change" | "problem"> & { offer?: Offer }) {
  const { t } = useTranslation("programs");
  const id = useId();
  // Nothing has to be set.
  const schema = useMemo(() => offer && { ...schemaOfOffer(offer), required: [] }, [offer]);
  const value = draft.config.arguments;
  const unread = draft.unread?.[ARGUMENTS];
  const isForm = schema && unread === undefined && (value === undefined || isObject(value));
  const set = (next: unknown) =>
    change((now) => ({ config: without(now.config, "arguments", next), ...withUnread(now, ARGUMENTS, undefined) }));
  const latest = useRef(change);
  latest.current = change;
  const changeForm = useCallback(
    (next: Values, isRead: boolean) =>
      latest.current((now) => ({
        config: without(now.config, "arguments", Object.keys(next).length > 0 ? next : undefined),
        ...withUnread(now, IN_FORM, isRead ? undefined : "…"),
      })),
    [],
  );
  // A draft of another time has what was read of the form, and not what could not be.
  useEffect(() => latest.current((now) => withUnread(now, IN_FORM, undefined)), []);
  return (
    <fieldset aria-describedby={id} className="grid gap-1">
      <legend className="text-sm font-medium">{t("mcp.pinned")}</legend>
      <p id={id} className="text-xs text-muted">
        {t("mcp.pinnedHint")}
      </p>
      {isForm ? (
        <SchemaForm schema={schema} value={(value ?? {}) as Values} onChange={changeForm} />
      ) : (
        <JsonText
          object
          label={t("mcp.pinned")}
          value={value}
          unread={unread}
          className="h-28"
          onChange={(read) =>
            "unread" in read ? change((now) => withUnread(now, ARGUMENTS, read.unread)) : set(read.value)
          }
        />
      )}
      {problem(ARGUMENTS) && <p className="text-sm text-danger">{problem(ARGUMENTS)}</p>}
    </fieldset>
  );
}

const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
