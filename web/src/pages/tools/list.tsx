// The list of tools: found, filtered, switched on and off, tried.

import { useInfiniteQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { useAddress } from "../../search";
import { Page } from "../../ui/page";
import { Failed, Skeleton } from "../../ui/states";
import { toolsQuery } from "./queries";

export default function Tools() {
  const { t } = useTranslation("tools");
  const [found] = useAddress();
  const tools = useInfiniteQuery(toolsQuery({ q: found.q, kind: found.kind, active: found.active }));
  const all = tools.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Page title={t("title")} about={t("about")}>
      {tools.error && <Failed error={tools.error} again={() => void tools.refetch()} />}
      {tools.isPending && <Skeleton />}
      <ul>
        {all.map((tool) => (
          <li key={tool.id} className="font-mono">
            {tool.name}
          </li>
        ))}
      </ul>
    </Page>
  );
}
