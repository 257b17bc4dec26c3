// The question to whoever leaves a form with something in it that is not saved.

import { useBlocker } from "@tanstack/react-router";
import { lazy, Suspense, useEffect } from "react";

const load = () => import("./leaving-dialog");
const LeavingDialog = lazy(load);

export type LeavingProps = {
  dirty: boolean;
  /** Set once there is nothing to lose any more. */
  isDone: { current: boolean };
  onDiscard: () => void;
};

export function Leaving({ dirty, isDone, onDiscard }: LeavingProps) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && !isDone.current && current.pathname !== next.pathname,
    // The draft is in the browser's store: a reload loses nothing.
    enableBeforeUnload: false,
    withResolver: true,
  });
  // With the first thing that is written: whoever leaves may do so because the server is away.
  useEffect(() => {
    if (dirty) load().catch(() => {});
  }, [dirty]);
  if (status !== "blocked") return null;
  return (
    <Suspense>
      <LeavingDialog
        onStay={reset}
        onKeep={proceed}
        onDiscard={() => {
          isDone.current = true;
          onDiscard();
          proceed();
        }}
      />
    </Suspense>
  );
}
