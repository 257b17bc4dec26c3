// Removes an agent after saying what still goes on with it; it can be brought back at once.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { Confirm } from "../../ui/overlay";
import { Failed, messageOf } from "../../ui/states";
import { toast } from "../../ui/toast";
import { type Agent, deleteAgent, restoreAgent } from "./queries";

export function DeleteAgent({ agent, open, onClose }: { agent: Agent; open: boolean; onClose: () => void }) {
  const { t } = useTranslation(["agents", "frame"]);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [error, setError] = useState<unknown>(null);
  const going = useQuery({
    queryKey: ["runs", "of", agent.id],
    enabled: open,
    queryFn: async () => {
      const of = (status: string) =>
        got(api.GET("/api/v1/runs", { params: { query: { agent: agent.id, status, limit: 50 } } }));
      const [running, waiting] = await Promise.all([of("running"), of("needs_input")]);
      return running.items.length + waiting.items.length;
    },
  });
  // Runs of it end with it, also those that the menu counts.
  const again = () => {
    for (const area of ["agents", "runs", "policy"]) void queries.invalidateQueries({ queryKey: [area] });
  };
  const undo = () => restoreAgent(agent.id).then(again, (failure) => toast(messageOf(failure), { failed: true }));
  const remove = async () => {
    setError(null);
    try {
      await deleteAgent(agent.name);
    } catch (failure) {
      setError(failure);
      throw failure;
    }
    // The page of what is gone is left before anything is asked for again.
    await navigate({ to: "/agents" as never });
    again();
    toast(t("deleted", { name: agent.name }), { action: { label: t("frame:undo"), run: undo } });
  };
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title={t("deleteTitle", { name: agent.name })}
      action={t("frame:delete")}
      onConfirm={remove}
    >
      <p>{t("deleteAbout")}</p>
      {going.data !== undefined && going.data > 0 && (
        <p className="mt-2 text-warn">
          {t("deleteRuns", { count: going.data })}{" "}
          <Link to={"/runs" as never} search={{ agent: agent.name } as never} className="underline">
            {t("showRuns")}
          </Link>
        </p>
      )}
      {error !== null && <Failed className="mt-2" error={error} />}
    </Confirm>
  );
}
