// A daily quota is set, or another in its place.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useDeferredValue, useState } from "react";
import { useTranslation } from "react-i18next";
import { problemAt } from "../../api/errors";
import { toolSearchQuery } from "../../api/tool-search";
import { Button } from "../../ui/button";
import { Field, Select, TextField } from "../../ui/field";
import { Dialog } from "../../ui/overlay";
import { Failed } from "../../ui/states";
import { Suggest } from "../../ui/suggest";
import { toast } from "../../ui/toast";
import { subjectsQuery } from "../policies/queries";
import { type Shown, setLimit } from "./queries";

export function LimitForm({ shown, onClose }: { shown: Shown | null; onClose: () => void }) {
  const { t } = useTranslation(["limits", "frame"]);
  const queries = useQueryClient();
  const [type, setType] = useState<Shown["type"]>(shown?.type ?? "USER");
  // Each kind has its own: whoever only looked at the other finds theirs again.
  const [targets, setTargets] = useState({ USER: "", TOOL: "", [type]: shown?.name ?? "" });
  const target = targets[type];
  const [max, setMax] = useState(shown?.quota?.toString() ?? "");
  const tools = useQuery({ ...toolSearchQuery(useDeferredValue(target)), enabled: type === "TOOL" });
  const subjects = useQuery(subjectsQuery);
  const save = useMutation({
    mutationFn: setLimit,
    onSuccess: () => {
      toast(t("saved", { name: target }));
      void queries.invalidateQueries({ queryKey: ["limits"] });
      void queries.invalidateQueries({ queryKey: ["usage"] });
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ target_type: type, target_id: shown?.id ?? target.trim(), max_count: Number(max) });
  };
  const isWhole = !!target.trim() && /^\d+$/.test(max.trim());
  return (
    <Dialog open onClose={onClose} title={shown ? t("editOf", { name: shown.name }) : t("set")} about={t("midnight")}>
      <form onSubmit={submit} className="grid gap-4" noValidate>
        {save.error && <Failed error={save.error} />}
        <Field label={t("type")} problem={problemAt(save.error, "target_type")}>
          {(told) => (
            <Select
              {...told}
              disabled={!!shown}
              value={type}
              onChange={(event) => setType(event.target.value as Shown["type"])}
            >
              <option value="USER">{t("USER")}</option>
              <option value="TOOL">{t("TOOL")}</option>
            </Select>
          )}
        </Field>
        <Suggest
          label={t("target")}
          required
          readOnly={!!shown}
          problem={problemAt(save.error, "target_id")}
          options={type === "USER" ? (subjects.data?.user ?? []) : (tools.data?.items.map((tool) => tool.name) ?? [])}
          value={target}
          onChange={(event) => setTargets({ ...targets, [type]: event.target.value })}
        />
        <TextField
          label={t("max")}
          hint={t("maxHint")}
          required
          inputMode="numeric"
          problem={problemAt(save.error, "max_count")}
          value={max}
          onChange={(event) => setMax(event.target.value)}
        />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("frame:cancel")}</Button>
          <Button look="primary" type="submit" busy={save.isPending} disabled={!isWhole}>
            {t("frame:save")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
