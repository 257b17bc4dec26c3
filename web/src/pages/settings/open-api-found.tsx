// What would become of each operation of a document: chosen from, and then what became of them.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import type { ImportedTool, NeededSecret, OpenApiImported } from "../../api/schema";
import { Badge, type Tone } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Input, Select, TextField } from "../../ui/field";
import { Note } from "../../ui/note";
import { Failed } from "../../ui/states";
import { Cell, Row, Table } from "../../ui/table";
import { toast } from "../../ui/toast";
import { isMade, missingOf, placeOf, shownOf } from "./open-api-picks";

const tones: Record<string, Tone> = { added: "ok", replaced: "info", unchanged: "plain", failed: "danger" };
type Outcome = "added" | "replaced" | "unchanged" | "failed";
const MADE = {
  added: "madeAdded",
  replaced: "madeReplaced",
  unchanged: "madeUnchanged",
  failed: "madeFailed",
} as const;

type Props = {
  found: OpenApiImported;
  made: Record<string, ImportedTool>;
  picked: ReadonlySet<string>;
  onPick: (next: ReadonlySet<string>) => void;
  /** A secret was set: what is possible is another now. */
  onSecret: () => void;
};

export function Found({ found, made, picked, onPick, onSecret }: Props) {
  const { t } = useTranslation("openapi");
  const [filter, setFilter] = useState({ text: "", method: "" });
  const shown = shownOf(found, filter);
  const isFree = (tool: ImportedTool) => tool.outcome !== "failed" && !isMade(made[placeOf(tool)]);
  const free = shown.filter(isFree).map(placeOf);
  const methods = [...new Set(found.tools.map((tool) => tool.method.toUpperCase()))];
  const count = found.tools.filter((tool) => isFree(tool) && picked.has(placeOf(tool))).length;
  return (
    <div className="grid gap-3">
      <h3 className="font-semibold">{found.title}</h3>
      {found.secrets.map((secret) => (
        <Secret key={secret.name} secret={secret} onSet={onSecret} />
      ))}
      <p className="text-sm text-muted">{t("readOnlyFirst")}</p>
      <div className="flex flex-wrap items-center gap-2">
        <Input
          type="search"
          aria-label={t("search")}
          placeholder={t("search")}
          className="max-w-64"
          value={filter.text}
          onChange={(event) => setFilter({ ...filter, text: event.target.value })}
        />
        <Select
          aria-label={t("method")}
          className="w-auto!"
          value={filter.method}
          onChange={(event) => setFilter({ ...filter, method: event.target.value })}
        >
          <option value="">{t("allMethods")}</option>
          {methods.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </Select>
        <Button small disabled={free.length === 0} onClick={() => onPick(new Set([...picked, ...free]))}>
          {t("chooseShown", { count: free.length })}
        </Button>
        <Button small disabled={picked.size === 0} onClick={() => onPick(new Set())}>
          {t("chooseNone")}
        </Button>
        <span role="status" className="ml-auto text-sm text-muted tabular-nums">
          {t("chosen", { count, total: found.tools.length })}
        </span>
      </div>
      {shown.length === 0 ? (
        <p className="text-muted">{t("nothing")}</p>
      ) : (
        <Table
          label={found.title}
          columns={[
            { label: t("pick"), hidden: true },
            { label: t("tool") },
            { label: t("operation") },
            { label: t("outcome") },
            { label: t("notes") },
          ]}
        >
          {shown.map((tool) => (
            <Operation
              key={placeOf(tool)}
              tool={made[placeOf(tool)] ?? tool}
              isDone={placeOf(tool) in made}
              missing={missingOf(tool, found)}
              picked={isFree(tool) ? picked.has(placeOf(tool)) : undefined}
              onPick={(on) => {
                const next = new Set(picked);
                if (on) next.add(placeOf(tool));
                else next.delete(placeOf(tool));
                onPick(next);
              }}
            />
          ))}
        </Table>
      )}
      {found.left_out.map((operation) => (
        <p key={placeOf(operation)} className="text-sm text-muted">
          <code>{placeOf(operation)}</code> {t("leftOut")} {operation.why}
        </p>
      ))}
    </div>
  );
}

type OperationProps = {
  tool: ImportedTool;
  /** It was made, or tried to. */
  isDone: boolean;
  missing: string[];
  /** None where it cannot be chosen. */
  picked?: boolean;
  onPick: (on: boolean) => void;
};

function Operation({ tool, isDone, missing, picked, onPick }: OperationProps) {
  const { t } = useTranslation("openapi");
  const outcome = tool.outcome as Outcome;
  const waits = !isDone && outcome === "failed" && missing.length > 0;
  return (
    <Row status={isDone ? `made ${outcome}` : outcome}>
      <Cell>
        {picked !== undefined && (
          <input
            type="checkbox"
            className="size-4 accent-accent"
            aria-label={t("takeThis", { name: tool.name })}
            checked={picked}
            onChange={(event) => onPick(event.target.checked)}
          />
        )}
      </Cell>
      <Cell className="font-mono font-medium">{tool.name}</Cell>
      <Cell className="font-mono text-sm text-muted">{placeOf(tool)}</Cell>
      <Cell>
        {waits ? (
          <Badge tone="warn">{t("waits", { name: missing.join(", ") })}</Badge>
        ) : (
          <Badge tone={isDone ? (tones[outcome] ?? "plain") : outcome === "failed" ? "danger" : "plain"}>
            {t(`outcomes.${isDone ? MADE[outcome] : outcome}`)}
          </Badge>
        )}
      </Cell>
      <Cell className="text-sm">
        {tool.error && !waits && <p className="text-danger">{tool.error}</p>}
        {tool.lost.length > 0 && <p className="text-warn">{tool.lost.join("; ")}</p>}
      </Cell>
    </Row>
  );
}

/** One that the tools refer to; where it is not set, it is set here. */
function Secret({ secret, onSet }: { secret: NeededSecret; onSet: () => void }) {
  const { t } = useTranslation("openapi");
  const queries = useQueryClient();
  const [value, setValue] = useState("");
  const { name, what } = secret;
  const places = secret.shown_to.join(", ");
  const set = useMutation({
    mutationFn: () => got(api.PUT("/api/v1/secrets/{name}", { params: { path: { name } }, body: { value } })),
    onSuccess: () => {
      setValue("");
      void queries.invalidateQueries({ queryKey: ["secrets"] });
      toast(t("secretSaved", { name }));
      onSet();
    },
  });
  if (secret.is_set) return <Note tone="plain">{t("secretSet", { name, what, places })}</Note>;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set.mutate();
  };
  return (
    <Note tone="warn">
      <p className="font-medium">{t("secretTitle", { name })}</p>
      <p className="text-sm">{t("secretAbout", { what, places })}</p>
      <form onSubmit={submit} className="mt-2 flex flex-wrap items-end gap-2 text-fg">
        <TextField
          label={t("secretValue", { name })}
          type="password"
          autoComplete="new-password"
          className="min-w-64"
          value={value}
          onChange={(event) => setValue(event.target.value)}
        />
        <Button type="submit" busy={set.isPending} disabled={!value}>
          {t("secretSetIt")}
        </Button>
      </form>
      {set.error && <Failed error={set.error} className="mt-2" />}
    </Note>
  );
}
