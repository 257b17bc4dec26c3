// Somebody else saved what is being written here: what theirs and yours differ in, and whose is to count.

import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { writeExact } from "../exact";
import type { Kept } from "../kept";
import { Button } from "./button";
import { Diff } from "./diff";
import { Note } from "./note";

type Values = Record<string, unknown>;

/** The members in which two definitions differ, by name. */
export function differing(theirs: Values, mine: Values): string[] {
  const names = new Set([...Object.keys(theirs), ...Object.keys(mine)]);
  return [...names].filter((name) => writeExact(theirs[name]) !== writeExact(mine[name])).sort();
}

type Props<T> = {
  kept: Pick<Kept<T>, "draft" | "stored" | "isOutdated" | "discard" | "goOn">;
  /** What is sent of either, without secrets. */
  shown: (draft: T) => object;
  onGoOn?: () => void;
  /** Somebody wanted to save it: they are brought here, wherever in the form they are. */
  isRefused?: boolean;
};

/** Going on from what they saved is a choice: until it is made, the server refuses what was begun on an older version. */
export function Outdated<T>({ kept, shown, onGoOn, isRefused }: Props<T>) {
  const { t } = useTranslation();
  const place = useRef<HTMLDivElement>(null);
  const isWanted = kept.isOutdated && isRefused;
  useEffect(() => {
    if (isWanted) place.current?.scrollIntoView({ block: "center" });
  }, [isWanted]);
  if (!kept.isOutdated) return null;
  const [theirs, mine] = [shown(kept.stored), shown(kept.draft)] as [Values, Values];
  const goOn = () => {
    kept.goOn();
    onGoOn?.();
  };
  return (
    <div ref={place} role="alert">
      <Note tone="warn">
        <p>{t("changedMeanwhile")}</p>
        <div className="mt-2 grid max-h-60 gap-2 overflow-auto text-fg empty:hidden">
          {differing(theirs, mine).map((name) => (
            <div key={name}>
              <p className="font-mono text-sm">{name}</p>
              <Diff before={theirs[name]} after={mine[name]} label={name} />
            </div>
          ))}
        </div>
        <div className="mt-2 flex flex-wrap gap-2 text-fg">
          <Button small onClick={kept.discard}>
            {t("discardDraft")}
          </Button>
          <Button small onClick={goOn}>
            {t("keepMine")}
          </Button>
        </div>
      </Note>
    </div>
  );
}
