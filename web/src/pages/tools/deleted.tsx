// Tools that were deleted, and their way back. The catalogue does not list them: admins find them in the audit log, others bring
// back one of theirs by its name.

import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RotateCcw, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, every, got } from "../../api/client";
import { useMay } from "../../api/me";
import { useAddress } from "../../search";
import { Button } from "../../ui/button";
import { TextField } from "../../ui/field";
import { Empty, Failed, messageOf, Skeleton } from "../../ui/states";
import { Cell, Row, Table } from "../../ui/table";
import { When } from "../../ui/time";
import { toast } from "../../ui/toast";
import { fits } from "../../words";
import { type Act, deletedOf } from "./deleted-acts";
import { restoreTool } from "./queries";

const actsOf = (action: string, signal: AbortSignal): Promise<Act[]> =>
  every((cursor) => got(api.GET("/api/v1/audit", { params: { query: { action, limit: 500, cursor } }, signal })));

const deletedQuery = queryOptions({
  queryKey: ["tools", "deleted"],
  queryFn: async ({ signal }) => deletedOf(await actsOf("tool.delete", signal), await actsOf("tool.restore", signal)),
});

export default function Deleted() {
  return useMay("admin") ? <All /> : <ByName />;
}

function useRestoring() {
  const { t } = useTranslation("deleted");
  const queries = useQueryClient();
  const [busy, setBusy] = useState<string>();
  const restore = async (target: string, name = target) => {
    setBusy(target);
    try {
      await restoreTool(queries, target);
      toast(t("restored", { name }));
    } catch (error) {
      toast(messageOf(error), { failed: true });
    }
    setBusy(undefined);
  };
  return { busy, restore };
}

function All() {
  const { t } = useTranslation(["deleted", "frame"]);
  const [found, change] = useAddress();
  const deleted = useQuery(deletedQuery);
  const { busy, restore } = useRestoring();
  if (deleted.error) return <Failed error={deleted.error} again={() => void deleted.refetch()} />;
  if (!deleted.data) return <Skeleton />;
  const shown = deleted.data.filter((one) => fits(found.q, one.name));
  if (shown.length === 0)
    return (
      <Empty
        icon={Trash2}
        title={deleted.data.length > 0 ? t("frame:nothingFits") : t("deleted:none")}
        action={<Button onClick={() => change({ state: undefined, q: undefined })}>{t("deleted:back")}</Button>}
      />
    );
  return (
    <div className="min-h-0 overflow-y-auto pb-6">
      <Table
        label={t("deleted:title")}
        columns={[
          { label: t("frame:name") },
          { label: t("deleted:when") },
          { label: t("deleted:who") },
          { label: t("deleted:restore"), hidden: true },
        ]}
      >
        {shown.map((one) => (
          <Row key={one.id} status="deleted">
            <Cell className="font-mono font-medium">
              <Link to={`/tools/${encodeURIComponent(one.id)}/versions`}>{one.name}</Link>
            </Cell>
            <Cell className="text-muted">
              <When at={one.at} />
            </Cell>
            <Cell>{one.actor}</Cell>
            <Cell className="text-right">
              <Button
                small
                icon={RotateCcw}
                busy={busy === one.id}
                aria-label={t("deleted:restoreOne", { name: one.name })}
                onClick={() => void restore(one.id, one.name)}
              >
                {t("deleted:restore")}
              </Button>
            </Cell>
          </Row>
        ))}
      </Table>
    </div>
  );
}

function ByName() {
  const { t } = useTranslation("deleted");
  const [name, setName] = useState("");
  const { busy, restore } = useRestoring();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void restore(name.trim());
  };
  return (
    <form onSubmit={submit} className="flex max-w-xl flex-wrap items-end gap-2">
      <TextField
        label={t("byName")}
        hint={t("byNameHint")}
        className="min-w-64 grow"
        spellCheck={false}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Button type="submit" icon={RotateCcw} className="mb-5" busy={!!busy} disabled={!name.trim()}>
        {t("restore")}
      </Button>
    </form>
  );
}
