// How a client reaches the tools: the address, a key, and what each client wants to have written where.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../api/client";
import { useMe } from "../api/me";
import { Button } from "../ui/button";
import { CopyBlock } from "../ui/copy";
import { Field, Input, Select } from "../ui/field";
import { Note } from "../ui/note";
import { Drawer } from "../ui/overlay";
import { Failed } from "../ui/states";
import { clients, nameFor, TERMINAL } from "./clients";

type Props = {
  open: boolean;
  onClose: () => void;
  toolset?: string;
  /** One that was just made: it cannot be shown again. */
  apiKey?: string;
};

const DAYS = 90;

/** Makes a key for this client alone, with what calling tools takes and no more. */
function useNewKey(onMade: (key: string) => void) {
  const queries = useQueryClient();
  const { scopes } = useMe();
  return useMutation({
    mutationFn: (name: string) => {
      const wanted = ["read", "call"].filter((scope) => scopes.includes(scope));
      const expires_at = new Date(Date.now() + DAYS * 86_400_000).toISOString();
      return got(api.POST("/api/v1/keys", { body: { name, scopes: wanted, expires_at } }));
    },
    onSuccess: ({ key }) => {
      onMade(key);
      void queries.invalidateQueries({ queryKey: ["keys"] });
    },
  });
}

type NewKeyProps = { name: string; make: ReturnType<typeof useNewKey>; onLeave: () => void };

function NewKey({ name, make, onLeave }: NewKeyProps) {
  const { t } = useTranslation("connect");
  if (make.data) return <Note tone="warn">{t("made", { name: make.data.name, days: DAYS })}</Note>;
  return (
    <>
      {make.error && <Failed error={make.error} />}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button small icon={KeyRound} busy={make.isPending} onClick={() => make.mutate(name)}>
          {t("makeKey")}
        </Button>
        <span className="text-xs text-muted">{t("newKey", { days: DAYS })}</span>
        {!make.isPending && (
          <Link to="/keys" onClick={onLeave} className="text-xs text-accent-text underline">
            {t("toKeys")}
          </Link>
        )}
      </div>
    </>
  );
}

export function Connect({ open, onClose, toolset, apiKey = "" }: Props) {
  const { t } = useTranslation("connect");
  const [chosen, setChosen] = useState("claude-code");
  const [key, setKey] = useState(apiKey);
  const make = useNewKey(setKey);
  const url = `${location.origin}/mcp${toolset ? `/${toolset}` : ""}`;
  // REST knows no toolsets.
  const all = clients.filter((one) => !toolset || one.id !== "curl");
  const client = all.find((one) => one.id === chosen) ?? all[0]!;
  const name = nameFor(toolset);
  return (
    // A key that is on its way, or just came, is shown nowhere else.
    <Drawer
      open={open}
      firm={make.isPending || !!make.data}
      onClose={() => !make.isPending && onClose()}
      title={t("title")}
      about={t("about")}
    >
      <div className="grid gap-4">
        <CopyBlock label={t("address")} text={url} />
        <Field label={t("client")}>
          {(told) => (
            <Select {...told} value={chosen} onChange={(event) => setChosen(event.target.value)}>
              {all.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {client.id === "stdio" ? (
          <p className="text-sm text-muted">{t("noKey")}</p>
        ) : (
          <div className="grid gap-2">
            <Field label={t("key")} hint={t("keyHint")}>
              {(told) => (
                <Input
                  {...told}
                  value={key}
                  onChange={(event) => setKey(event.target.value)}
                  placeholder="tck_…"
                  autoComplete="off"
                  spellCheck={false}
                />
              )}
            </Field>
            {!apiKey && <NewKey name={toolset ? `${client.id}-${toolset}` : client.id} make={make} onLeave={onClose} />}
          </div>
        )}
        <CopyBlock
          label={client.where === TERMINAL ? t("terminal") : client.where}
          text={client.text({ url, key: key || "YOUR_KEY", name, toolset })}
        />
      </div>
    </Drawer>
  );
}
