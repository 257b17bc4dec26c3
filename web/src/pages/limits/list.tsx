// Daily quotas of users and tools, and how much of every limit is used up right now.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Gauge, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { useMay } from "../../api/me";
import { useAddress } from "../../search";
import { Badge } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { Select } from "../../ui/field";
import { Meter } from "../../ui/meter";
import { ReadOnly } from "../../ui/note";
import { Page } from "../../ui/page";
import { SearchBox } from "../../ui/search-box";
import { Empty, Failed, messageOf, Skeleton } from "../../ui/states";
import { Cell, Row, Table } from "../../ui/table";
import { When } from "../../ui/time";
import { toast } from "../../ui/toast";
import { fits } from "../../words";
import { LimitForm } from "./form";
import { limitsQuery, merged, type Shown, setLimit, usageQuery } from "./queries";

function useRemove() {
  const { t } = useTranslation(["limits", "frame"]);
  const queries = useQueryClient();
  const settled = () => {
    void queries.invalidateQueries({ queryKey: ["limits"] });
    void queries.invalidateQueries({ queryKey: ["usage"] });
  };
  const failed = (error: unknown) => toast(messageOf(error), { failed: true });
  const back = useMutation({ mutationFn: setLimit, onSettled: settled, onError: failed });
  return useMutation({
    mutationFn: ({ type, id }: Shown) =>
      got(
        api.DELETE("/api/v1/limits/{target_type}/{target_id}", {
          params: { path: { target_type: type, target_id: id } },
        }),
      ),
    onSettled: settled,
    onError: failed,
    onSuccess: (_, { type, id, name, quota }) =>
      toast(t("removed", { name }), {
        action: {
          label: t("frame:undo"),
          run: () => back.mutate({ target_type: type, target_id: id, max_count: quota ?? 0 }),
        },
      }),
  });
}

export default function Limits() {
  const { t } = useTranslation(["limits", "frame"]);
  const [found, change] = useAddress();
  const mayOperate = useMay("operate");
  const limits = useQuery(limitsQuery);
  const usage = useQuery(usageQuery);
  const remove = useRemove();
  const [editing, setEditing] = useState<Shown | "new" | null>(null);
  const error = limits.error ?? usage.error;
  const isThere = !!limits.data && !!usage.data;
  const all = merged(limits.data ?? [], usage.data ?? []);
  const shown = all.filter((one) => fits(found.q, one.name) && (!found.type || one.type === found.type));
  const add = mayOperate && (
    <Button look="primary" icon={Plus} onClick={() => setEditing("new")}>
      {t("set")}
    </Button>
  );
  return (
    <Page title={t("title")} about={t("about")} actions={all.length > 0 && add}>
      <ReadOnly scope="operate" />
      {error && (
        <Failed
          error={error}
          again={() => {
            void limits.refetch();
            void usage.refetch();
          }}
        />
      )}
      {!error && !isThere && <Skeleton />}
      {isThere && all.length === 0 && (
        <Empty icon={Gauge} title={t("empty.title")} action={add}>
          {t(mayOperate ? "empty.about" : "empty.yours")}
        </Empty>
      )}
      {all.length > 0 && (
        <div className="mb-3 flex flex-wrap gap-2">
          <SearchBox />
          <Select
            aria-label={t("type")}
            className="w-auto!"
            value={found.type ?? ""}
            onChange={(event) => change({ type: event.target.value || undefined })}
          >
            <option value="">{t("anyType")}</option>
            <option value="USER">{t("USER")}</option>
            <option value="TOOL">{t("TOOL")}</option>
          </Select>
        </div>
      )}
      {all.length > 0 && shown.length === 0 && (
        <Empty
          title={t("frame:nothingFits")}
          action={<Button onClick={() => change({ q: undefined, type: undefined })}>{t("frame:clearFilters")}</Button>}
        />
      )}
      {shown.length > 0 && (
        <Table
          label={t("title")}
          columns={[
            { label: t("target") },
            { label: t("today") },
            { label: t("minute") },
            { label: t("hour") },
            { label: t("running") },
            { label: t("updated") },
            { label: t("actions"), hidden: true },
          ]}
        >
          {shown.map((one) => (
            <Row key={`${one.type}-${one.id}`}>
              <Cell>
                <span className="flex items-center gap-2">
                  <span className="font-mono font-medium">{one.name}</span>
                  <Badge>{t(one.type)}</Badge>
                  {one.quota === 0 && <Badge tone="danger">{t("refusesAll")}</Badge>}
                </span>
              </Cell>
              <Cell>
                {one.quota === null ? (
                  "—"
                ) : (
                  <Meter count={one.count} max={one.quota} label={t("todayOf", { name: one.name })} />
                )}
              </Cell>
              {(["minute", "hour", "running"] as const).map((span) => {
                const used = one[span];
                return (
                  <Cell key={span}>
                    {used ? <Meter count={used.count} max={used.max_count} label={`${t(span)} ${one.name}`} /> : "—"}
                  </Cell>
                );
              })}
              <Cell className="text-muted">{one.updatedAt ? <When at={one.updatedAt} /> : "—"}</Cell>
              <Cell>
                {mayOperate && one.quota !== null && (
                  <span className="flex justify-end">
                    <IconButton
                      small
                      icon={Pencil}
                      label={t("editOf", { name: one.name })}
                      onClick={() => setEditing(one)}
                    />
                    <IconButton
                      small
                      icon={Trash2}
                      label={t("removeOf", { name: one.name })}
                      onClick={() => remove.mutate(one)}
                    />
                  </span>
                )}
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      <p className="mt-3 text-xs text-muted">{t("midnight")}</p>
      {editing && <LimitForm shown={editing === "new" ? null : editing} onClose={() => setEditing(null)} />}
    </Page>
  );
}
