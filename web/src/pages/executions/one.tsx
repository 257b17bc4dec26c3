// One call on a page of its own.

import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { useAddress } from "../../search";
import { Crumbs } from "../../ui/crumbs";
import { Card, Page } from "../../ui/page";
import { Failed, Skeleton } from "../../ui/states";
import { Detail, DetailActions } from "./detail";
import { executionQuery } from "./queries";

export default function OneExecution() {
  const { t } = useTranslation(["executions", "frame"]);
  const { id } = useParams({ strict: false }) as { id: string };
  const [found, change] = useAddress();
  const execution = useQuery(executionQuery(id));
  const one = execution.data;
  return (
    <Page
      name={one?.tool_name ?? t("one")}
      title={
        <Crumbs to="/executions" label={t("title")}>
          <span className="font-mono">{one?.tool_name ?? t("one")}</span>
        </Crumbs>
      }
      actions={one && <DetailActions one={one} />}
    >
      {execution.error && <Failed error={execution.error} again={() => void execution.refetch()} />}
      {execution.isPending && <Skeleton />}
      {one && (
        <Card>
          <Detail one={one} tab={found.tab} onTab={(tab) => change({ tab })} />
        </Card>
      )}
    </Page>
  );
}
