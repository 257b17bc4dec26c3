// Removing a tool: at once, with a way back; but first it is asked where agents or toolsets name it.

import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useCallback, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import type { UsedBy } from "../../api/schema";
import { Confirm } from "../../ui/overlay";
import { messageOf } from "../../ui/states";
import { toast } from "../../ui/toast";
import { removeTool, restoreTool } from "./queries";

/** The question, where one has to be asked, and how to begin. */
export function useRemoving(): [ReactNode, (name: string) => void] {
  const { t } = useTranslation("tools");
  const queries = useQueryClient();
  const [asked, setAsked] = useState<{ name: string; used: UsedBy } | null>(null);
  const remove = useCallback(
    async (name: string) => {
      try {
        await removeTool(queries, name);
        const undo = () => restoreTool(queries, name).catch((error) => toast(messageOf(error), { failed: true }));
        toast(t("removed", { name }), { action: { label: t("undo"), run: () => void undo() } });
      } catch (error) {
        toast(messageOf(error), { failed: true });
      }
    },
    [queries, t],
  );
  const begin = useCallback(
    async (name: string) => {
      // As it is now: a list may be older than what names the tool. Without that nothing is deleted.
      const path = { name };
      const tool = await got(api.GET("/api/v1/tools/{name}", { params: { path } })).catch((error) =>
        toast(messageOf(error), { failed: true }),
      );
      if (!tool) return;
      const used = tool.used_by;
      if (used && used.agents.length + used.toolsets.length + used.hidden > 0) setAsked({ name, used });
      else await remove(name);
    },
    [remove],
  );
  const dialog = asked && (
    <Confirm
      open
      onClose={() => setAsked(null)}
      title={t("removeUsed", { name: asked.name })}
      action={t("delete")}
      onConfirm={() => remove(asked.name)}
    >
      <p>{t("removeUsedAbout")}</p>
      <ul className="mt-2 list-disc pl-5">
        {asked.used.agents.map((name) => (
          <li key={`agent ${name}`}>{t("usedByAgent", { name })}</li>
        ))}
        {asked.used.toolsets.map((name) => (
          <li key={`toolset ${name}`}>{t("usedByToolset", { name })}</li>
        ))}
        {asked.used.hidden > 0 && <li>{t("usedByHidden", { count: asked.used.hidden })}</li>}
      </ul>
    </Confirm>
  );
  return [dialog, useCallback((name) => void begin(name), [begin])];
}
