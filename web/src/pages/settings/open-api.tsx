// HTTP tools made of an OpenAPI document: first what would become of each operation, then those that were picked.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Download, FileUp } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { useMay, useMe } from "../../api/me";
import type { ImportedTool, OpenApiImported } from "../../api/schema";
import { readExact } from "../../exact";
import { Button, buttonClass } from "../../ui/button";
import { Code } from "../../ui/code";
import { Check, TextField } from "../../ui/field";
import { Note } from "../../ui/note";
import { Card } from "../../ui/page";
import { Failed, messageOf } from "../../ui/states";
import { toast } from "../../ui/toast";
import { Found } from "./open-api-found";
import { firstPicks, madeWith, takenOf } from "./open-api-picks";

type Options = {
  text: string;
  baseUrl: string;
  prefix: string;
  noAuth: boolean;
  shareSecrets: boolean;
  force: boolean;
};
const none: Options = { text: "", baseUrl: "", prefix: "", noAuth: false, shareSecrets: false, force: false };

type Kept = {
  options: Options;
  found?: OpenApiImported;
  picked: ReadonlySet<string>;
  /** What became of operations, by their places. */
  made: Record<string, ImportedTool>;
  /** How the last time ended. */
  told?: { made: number; failed: number };
};
const begin: Kept = { options: none, picked: new Set(), made: {} };

// While the page is open: whoever looks at another tab, or sets a secret there, goes on where they were.
const kept = new Map<string, Kept>();

function send(options: Options, dryRun: boolean, pick: string[]) {
  return got(
    api.POST("/api/v1/openapi/import", {
      body: {
        document: readExact(options.text) as never,
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

function Import() {
  const { t } = useTranslation("openapi");
  const queries = useQueryClient();
  const { user } = useMe();
  const [state, setState] = useState(() => kept.get(user) ?? begin);
  const put = (change: (before: Kept) => Kept) =>
    setState((before) => {
      const next = change(before);
      kept.set(user, next);
      return next;
    });
  const { options, found, picked, made, told } = state;
  const look = useMutation({
    mutationFn: () => send(options, true, []),
    onSuccess: (next) =>
      put((before) => ({
        ...before,
        found: next,
        // What somebody has chosen stays chosen when they look again.
        picked: before.found ? before.picked : firstPicks(next),
      })),
  });
  const taken = found ? takenOf(found, picked, made) : [];
  const take = useMutation({
    mutationFn: () => send(options, false, taken),
    onSuccess: (now) => {
      const failed = now.tools.filter((tool) => tool.outcome === "failed").length;
      put((before) => ({
        ...before,
        made: madeWith(before.made, now),
        told: { made: now.tools.length - failed, failed },
      }));
      if (now.tools.length > failed) toast(t("madeNow", { count: now.tools.length - failed }));
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ["tools"] }),
  });
  const set = (change: Partial<Options>) => {
    // Another document, or other names: what was seen is not what would be made.
    put((before) => ({ ...begin, options: { ...before.options, ...change } }));
    look.reset();
    take.reset();
  };
  const error = take.error ?? look.error;
  return (
    <Card title={t("import")}>
      <div className="grid gap-4">
        <p className="text-muted">{t("importAbout")}</p>
        <label className={`${buttonClass()} justify-self-start focus-within:outline-2`}>
          <FileUp aria-hidden className="size-4" />
          {t("file")}
          <input
            type="file"
            accept=".json,application/json"
            className="sr-only"
            onChange={async (event) => {
              const file = event.target.files?.[0];
              const failed = (error: unknown) => toast(messageOf(error), { failed: true });
              await file?.text().then((text) => set({ text }), failed);
            }}
          />
        </label>
        <Code
          language="json"
          label={t("document")}
          value={options.text}
          onChange={(text) => set({ text })}
          className="h-52"
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={t("baseUrl")}
            hint={t("baseUrlHint")}
            value={options.baseUrl}
            onChange={(event) => set({ baseUrl: event.target.value })}
          />
          <TextField
            label={t("prefix")}
            placeholder="pets_"
            value={options.prefix}
            onChange={(event) => set({ prefix: event.target.value })}
          />
          <Check
            label={t("noAuth")}
            checked={options.noAuth}
            onChange={(event) => set({ noAuth: event.target.checked })}
          />
          <Check
            label={t("shareSecrets")}
            checked={options.shareSecrets}
            onChange={(event) => set({ shareSecrets: event.target.checked })}
          />
          <Check
            label={t("force")}
            checked={options.force}
            onChange={(event) => set({ force: event.target.checked })}
          />
        </div>
        {error &&
          (error instanceof SyntaxError ? (
            <Note tone="danger">{t("notJson", { why: error.message })}</Note>
          ) : (
            <Failed error={error} />
          ))}
        {told && <Told {...told} onAnother={() => set(none)} />}
        {found && (
          <Found
            found={found}
            made={made}
            picked={picked}
            onPick={(next) => put((before) => ({ ...before, picked: next }))}
            onSecret={() => look.mutate()}
          />
        )}
        <div className="sticky bottom-0 flex gap-2 bg-panel py-2">
          <Button
            look={found ? "plain" : "primary"}
            busy={look.isPending}
            disabled={!options.text.trim()}
            onClick={() => look.mutate()}
          >
            {t("preview")}
          </Button>
          {found && (
            <Button look="primary" busy={take.isPending} disabled={taken.length === 0} onClick={() => take.mutate()}>
              {t("take", { count: taken.length })}
            </Button>
          )}
        </div>
      </div>
    </Card>
  );
}

/** How it ended, above the rows that say it one by one. */
function Told({ made, failed, onAnother }: { made: number; failed: number; onAnother: () => void }) {
  const { t } = useTranslation("openapi");
  return (
    <div role="status">
      <Note
        tone={failed > 0 ? "warn" : "info"}
        actions={
          <div className="flex flex-wrap gap-2 text-fg">
            <Button small onClick={onAnother}>
              {t("another")}
            </Button>
            {made > 0 && (
              <Link to="/tools" search={{ kind: "http" } as never} className={buttonClass("plain", true)}>
                {t("showTools")}
              </Link>
            )}
          </div>
        }
      >
        <p className="font-medium">{made > 0 ? t("madeNow", { count: made }) : t("madeNone")}</p>
        {made > 0 && <p className="text-sm">{t("madeAbout")}</p>}
        {failed > 0 && <p className="text-sm">{t("failedNow", { count: failed })}</p>}
      </Note>
    </div>
  );
}

export function OpenApi() {
  const { t } = useTranslation("openapi");
  const mayAuthor = useMay("author");
  const mayCall = useMay("call");
  return (
    <div className="grid gap-4">
      {mayAuthor ? <Import /> : <Note tone="plain">{t("notYou")}</Note>}
      {mayCall && (
        <Card title={t("export")}>
          <p className="mb-3 text-muted">{t("exportAbout")}</p>
          <a href="/api/v1/openapi/tools" download="tools.openapi.json" className={buttonClass()}>
            <Download aria-hidden className="size-4" />
            {t("download")}
          </a>
        </Card>
      )}
    </div>
  );
}
