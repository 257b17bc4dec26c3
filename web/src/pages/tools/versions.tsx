// Every change of a tool: who, when, what; and an earlier version made the newest one.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { RotateCcw } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { useMay, useMe } from "../../api/me";
import { useAddress } from "../../search";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Crumbs } from "../../ui/crumbs";
import { Diff } from "../../ui/diff";
import { Field, Select } from "../../ui/field";
import { Confirm } from "../../ui/overlay";
import { Page } from "../../ui/page";
import { Failed, messageOf, Skeleton } from "../../ui/states";
import { When } from "../../ui/time";
import { toast } from "../../ui/toast";
import { mayChange, restoreTool, toolQuery, versionsQuery } from "./queries";

const failed = (error: unknown) => toast(messageOf(error), { failed: true });

export default function Versions() {
  const { name } = useParams({ strict: false }) as { name: string };
  const { t } = useTranslation("versions");
  const [found, change] = useAddress();
  const isAuthor = useMay("author");
  const me = useMe();
  const queries = useQueryClient();
  const versions = useQuery(versionsQuery(name));
  const [asking, setAsking] = useState(false);
  const all = versions.data ?? [];
  const shown = all.find((one) => String(one.version) === found.v) ?? all[0];
  // The newest by what it changed; an earlier one by what bringing it back would change.
  const other = all.find((one) => String(one.version) === found.with) ?? (shown === all[0] ? all[1] : all[0]);
  const gone = all[0]?.action === "delete";
  const tool = useQuery({ ...toolQuery(name), enabled: versions.isSuccess && !gone }).data;
  const may = isAuthor && (gone || (!!tool && mayChange(tool, me)));
  const rollback = useMutation({
    mutationFn: (version: number) =>
      got(api.POST("/api/v1/tools/{name}/rollback", { params: { path: { name } }, body: { version } })),
    onSuccess: (after, version) => {
      // The editor must not begin with the version before.
      queries.removeQueries({ queryKey: toolQuery(name).queryKey });
      void queries.invalidateQueries({ queryKey: ["tools"] });
      change({ v: undefined, with: undefined });
      toast(t("restored", { version, now: after.version }));
    },
  });
  return (
    <Page
      name={`${name} · ${t("history")}`}
      title={
        <Crumbs to={`/tools/${encodeURIComponent(name)}`} label={name}>
          {t("history")}
        </Crumbs>
      }
      actions={
        gone &&
        may && (
          <Button look="primary" icon={RotateCcw} onClick={() => void restoreTool(queries, name).catch(failed)}>
            {t("bringBack")}
          </Button>
        )
      }
    >
      {versions.error && <Failed error={versions.error} again={() => void versions.refetch()} />}
      {versions.isPending && <Skeleton />}
      {shown && (
        <div className="grid items-start gap-6 lg:grid-cols-[18rem_minmax(0,1fr)]">
          <ol className="grid gap-1">
            {all.map((one) => (
              <li key={one.version}>
                <Link
                  to="."
                  search={{ v: String(one.version) } as never}
                  replace
                  aria-current={one === shown ? "true" : undefined}
                  className={`block rounded-md border px-3 py-2 no-underline ${one === shown ? "border-accent bg-accent-soft text-accent-text" : "bg-panel hover:bg-sunken"}`}
                >
                  <span className="flex items-center gap-2">
                    <span className="font-medium">{t("version", { version: one.version })}</span>
                    <Badge tone={one.action === "delete" ? "danger" : "plain"}>
                      {t(`actions.${one.action as "create"}`)}
                    </Badge>
                  </span>
                  <span className="flex gap-2 text-sm">
                    <span>{one.changed_by}</span>
                    <When at={one.changed_at} />
                  </span>
                </Link>
              </li>
            ))}
          </ol>
          <div className="grid gap-3">
            <div className="flex flex-wrap items-end gap-3">
              <h2 className="text-base font-semibold">{t("version", { version: shown.version })}</h2>
              {all.length > 1 && (
                <Field label={t("comparedWith")}>
                  {(told) => (
                    <Select
                      {...told}
                      value={String(other?.version ?? "")}
                      onChange={(event) => change({ with: event.target.value || undefined })}
                    >
                      {!other && <option value="" />}
                      {all
                        .filter((one) => one !== shown)
                        .map((one) => (
                          <option key={one.version} value={one.version}>
                            {t("version", { version: one.version })}
                          </option>
                        ))}
                    </Select>
                  )}
                </Field>
              )}
              <span className="grow" />
              {may && !gone && shown !== all[0] && (
                <Button icon={RotateCcw} onClick={() => setAsking(true)}>
                  {t("restore")}
                </Button>
              )}
            </div>
            <Diff before={other?.definition} after={shown.definition} label={t("changes")} />
          </div>
          <Confirm
            open={asking}
            onClose={() => setAsking(false)}
            title={t("restoreTitle", { version: shown.version })}
            action={t("restore")}
            onConfirm={() => rollback.mutateAsync(shown.version)}
          >
            {t("restoreAbout")}
          </Confirm>
        </div>
      )}
    </Page>
  );
}
