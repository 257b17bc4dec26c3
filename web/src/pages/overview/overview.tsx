// The first page: how it goes, what wants attention, and at the beginning what to do first.

import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { Bars } from "../../ui/bars";
import { Button } from "../../ui/button";
import { Card, Page } from "../../ui/page";
import { Failed } from "../../ui/states";
import { Checklist, isDismissed } from "./checklist";
import { FailingTools, RecentExecutions, TroubledServers, WaitingRuns } from "./lists";
import { Tiles } from "./tiles";
import { useDay } from "./use-day";

export default function Home() {
  // All the texts of what comes up later, too: a page that has to wait for them would begin anew.
  const { t } = useTranslation(["home", "executions"]);
  const isAdmin = useMay("admin");
  const [dismissed, setDismissed] = useState(isDismissed);
  const [isAskedFor, setAskedFor] = useState(false);
  const day = useDay(isAdmin);
  return (
    <Page
      title={t("title")}
      about={t("about")}
      actions={
        dismissed && (
          <Button
            look="quiet"
            small
            onClick={() => {
              setAskedFor(true);
              setDismissed(false);
            }}
          >
            {t("first.show")}
          </Button>
        )
      }
    >
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {!dismissed && <Checklist isAskedFor={isAskedFor} onDismiss={() => setDismissed(true)} />}
        {day.error !== null && <Failed error={day.error} again={day.again} />}
        {isAdmin && (
          <>
            <Tiles day={day} />
            <Card title={t("chart")}>
              <Bars
                bars={day.steps}
                isPending={day.isPending}
                label={t("chart")}
                names={{ calls: t("calls"), errors: t("errors") }}
                height={140}
              />
            </Card>
          </>
        )}
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 xl:grid-cols-2">
          <WaitingRuns />
          <TroubledServers />
          {isAdmin && <FailingTools stats={day.now} />}
          <RecentExecutions />
        </div>
      </div>
    </Page>
  );
}
