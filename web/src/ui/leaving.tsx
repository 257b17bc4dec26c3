// The question to whoever leaves a form with something in it that is not saved.

import { useBlocker } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { Button } from "./button";
import { Dialog } from "./overlay";

export type LeavingProps = {
  dirty: boolean;
  /** Set once there is nothing to lose any more. */
  isDone: { current: boolean };
  onDiscard: () => void;
};

export function Leaving({ dirty, isDone, onDiscard }: LeavingProps) {
  const { t } = useTranslation();
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && !isDone.current && current.pathname !== next.pathname,
    // The draft is in the browser's store: a reload loses nothing.
    enableBeforeUnload: false,
    withResolver: true,
  });
  if (status !== "blocked") return null;
  return (
    <Dialog
      open
      onClose={reset}
      title={t("leave.title")}
      about={t("leave.about")}
      footer={
        <>
          <Button onClick={reset}>{t("leave.stay")}</Button>
          <Button
            look="danger"
            onClick={() => {
              isDone.current = true;
              onDiscard();
              proceed();
            }}
          >
            {t("leave.discard")}
          </Button>
          <Button look="primary" onClick={proceed}>
            {t("leave.keep")}
          </Button>
        </>
      }
    >
      <p>{t("leave.more")}</p>
    </Dialog>
  );
}
