// HTTP tools made of an OpenAPI document: first what would become of each operation, then those that were picked.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Download, FileUp } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { useMay } from "../../api/me";
import type { ImportedTool, OpenApiImported } from "../../api/schema";
import { Badge, type Tone } from "../../ui/badge";
import { Button, buttonClass } from "../../ui/button";
import { Code } from "../../ui/code";
import { Check, TextField } from "../../ui/field";
import { Note } from "../../ui/note";
import { Card } from "../../ui/page";
import { Failed } from "../../ui/states";
import { Cell, Row, Table } from "../../ui/table";

type Options = {
  text: string;
  baseUrl: string;
  prefix: string;
  noAuth: boolean;
  shareSecrets: boolean;
  force: boolean;
};
const none: Options = { text: "", baseUrl: "", prefix: "", noAuth: false, shareSecrets: false, force: false };

const tones: Record<string, Tone> = { added: "ok", replaced: "info", unchanged: "plain", failed: "danger" };
const placeOf = (tool: ImportedTool) => `${tool.method} ${tool.path}`;

function send(options: Options, dryRun: boolean, pick: string[]) {
  return got(
    api.POST("/api/v1/openapi/import", {
      body: {
        document: JSON.parse(options.text),
        dry_run: dryRun,
        base_url: options.baseUrl.trim() || undefined,
        prefix: options.prefix.trim() || undefined,
        no_auth: options.noAuth,
        share_secrets: options.shareSecrets,
        force: options.force,
        ...(pick.length > 0 && { pick }),
      },
    }),
  );
}

function Found({
  found,
  picked,
  onPick,
}: {
  found: OpenApiImported;
  picked?: Set<string>;
  onPick?: (next: Set<string>) => void;
}) {
  const { t } = useTranslation("settings");
  return (
    <div className="grid gap-3">
      <h3 className="font-semibold">{found.title}</h3>
      <Table
        label={found.title}
        columns={[
          { label: t("openapi.pick"), hidden: true },
          { label: t("openapi.tool") },
          { label: t("openapi.operation") },
          { label: t("openapi.outcome") },
          { label: t("openapi.notes") },
        ]}
      >
        {found.tools.map((tool) => {
          const place = placeOf(tool);
          return (
            <Row key={place} status={tool.outcome}>
              <Cell>
                {picked && onPick && (
                  <input
                    type="checkbox"
                    className="size-4 accent-accent"
                    aria-label={t("openapi.takeThis", { name: tool.name })}
                    checked={picked.has(place)}
                    onChange={(event) => {
                      const next = new Set(picked);
                      if (event.target.checked) next.add(place);
                      else next.delete(place);
                      onPick(next);
                    }}
                  />
                )}
              </Cell>
              <Cell className="font-mono font-medium">{tool.name}</Cell>
              <Cell className="font-mono text-sm text-muted">{place}</Cell>
              <Cell>
                <Badge tone={tones[tool.outcome] ?? "plain"}>
                  {t(`outcome.${tool.outcome as "added" | "replaced" | "unchanged" | "failed"}`)}
                </Badge>
              </Cell>
              <Cell className="text-sm">
                {tool.error && <p className="text-danger">{tool.error}</p>}
                {tool.lost.length > 0 && <p className="text-warn">{tool.lost.join("; ")}</p>}
              </Cell>
            </Row>
          );
        })}
      </Table>
      {found.left_out.map((operation) => (
        <p key={`${operation.method} ${operation.path}`} className="text-sm text-muted">
          <code>
            {operation.method} {operation.path}
          </code>{" "}
          {t("openapi.leftOut")} {operation.why}
        </p>
      ))}
      {found.secrets.map((secret) => (
        <Note key={secret.name} tone={secret.is_set ? "plain" : "warn"}>
          {t(secret.is_set ? "openapi.secretSet" : "openapi.secretNeeded", {
            name: secret.name,
            what: secret.what,
            places: secret.shown_to.join(", "),
          })}
        </Note>
      ))}
    </div>
  );
}

function Import() {
  const { t } = useTranslation("settings");
  const queries = useQueryClient();
  const [options, setOptions] = useState<Options>(none);
  const [picked, setPicked] = useState<Set<string>>(new Set());
  const look = useMutation({
    mutationFn: () => send(options, true, []),
    onSuccess: (found) => setPicked(new Set(found.tools.filter((tool) => tool.outcome !== "failed").map(placeOf))),
  });
  const take = useMutation({
    mutationFn: () => send(options, false, [...picked]),
    onSettled: () => void queries.invalidateQueries({ queryKey: ["tools"] }),
  });
  const set = (change: Partial<Options>) => {
    setOptions((before) => ({ ...before, ...change }));
    look.reset();
    take.reset();
  };
  const error = take.error ?? look.error;
  return (
    <Card title={t("openapi.import")}>
      <div className="grid gap-4">
        <p className="text-muted">{t("openapi.importAbout")}</p>
        <label className={`${buttonClass()} justify-self-start focus-within:outline-2`}>
          <FileUp aria-hidden className="size-4" />
          {t("openapi.file")}
          <input
            type="file"
            accept=".json,application/json"
            className="sr-only"
            onChange={async (event) => {
              const file = event.target.files?.[0];
              if (file) set({ text: await file.text() });
            }}
          />
        </label>
        <Code
          language="json"
          label={t("openapi.document")}
          value={options.text}
          onChange={(text) => set({ text })}
          className="h-52"
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={t("openapi.baseUrl")}
            hint={t("openapi.baseUrlHint")}
            value={options.baseUrl}
            onChange={(event) => set({ baseUrl: event.target.value })}
          />
          <TextField
            label={t("openapi.prefix")}
            placeholder="pets_"
            value={options.prefix}
            onChange={(event) => set({ prefix: event.target.value })}
          />
          <Check
            label={t("openapi.noAuth")}
            checked={options.noAuth}
            onChange={(event) => set({ noAuth: event.target.checked })}
          />
          <Check
            label={t("openapi.shareSecrets")}
            checked={options.shareSecrets}
            onChange={(event) => set({ shareSecrets: event.target.checked })}
          />
          <Check
            label={t("openapi.force")}
            checked={options.force}
            onChange={(event) => set({ force: event.target.checked })}
          />
        </div>
        {error && <Failed error={error} />}
        {take.data ? (
          <Found found={take.data} />
        ) : (
          look.data && <Found found={look.data} picked={picked} onPick={setPicked} />
        )}
        {!take.data && (
          <div className="flex gap-2">
            <Button
              look={look.data ? "plain" : "primary"}
              busy={look.isPending}
              disabled={!options.text.trim()}
              onClick={() => look.mutate()}
            >
              {t("openapi.preview")}
            </Button>
            {look.data && (
              <Button look="primary" busy={take.isPending} disabled={picked.size === 0} onClick={() => take.mutate()}>
                {t("openapi.take", { count: picked.size })}
              </Button>
            )}
          </div>
        )}
      </div>
    </Card>
  );
}

export function OpenApi() {
  const { t } = useTranslation("settings");
  const mayAuthor = useMay("author");
  const mayCall = useMay("call");
  return (
    <div className="grid gap-4">
      {mayAuthor ? <Import /> : <Note tone="plain">{t("openapi.notYou")}</Note>}
      {mayCall && (
        <Card title={t("openapi.export")}>
          <p className="mb-3 text-muted">{t("openapi.exportAbout")}</p>
          <a href="/api/v1/openapi/tools" download="tools.openapi.json" className={buttonClass()}>
            <Download aria-hidden className="size-4" />
            {t("openapi.download")}
          </a>
        </Card>
      )}
    </div>
  );
}
