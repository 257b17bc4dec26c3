// Short news at the edge of the page: something worked, and how to take it back. Errors stay where they happened. News do not go
// while somebody is at them, and F8 leads there from wherever one is.

import { CircleCheck, TriangleAlert, X } from "lucide-react";
import { type FocusEvent, type KeyboardEvent, useMemo, useRef, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { useShortcuts } from "../keys";
import { Button, IconButton } from "./button";

type News = { id: number; text: string; failed?: boolean; action?: { label: string; run: () => void } };

const SECONDS = 6;
// What can be taken back has to be read, and reached, first.
const SECONDS_TO_ACT = 20;
// Whoever has just left the news may come back.
const SECONDS_AFTER = 3;

let shown: News[] = [];
let last = 0;
const listeners = new Set<() => void>();

type Clock = { left: number; since: number; timer: ReturnType<typeof setTimeout> };
const clocks = new Map<number, Clock>();
let isPaused = false;

function change(next: News[]) {
  shown = next;
  for (const id of clocks.keys()) if (!next.some((news) => news.id === id)) stop(id);
  if (next.length === 0) isPaused = false;
  for (const listener of listeners) listener();
}

const gone = (id: number) => change(shown.filter((news) => news.id !== id));

function start(id: number, left: number) {
  clocks.set(id, { left, since: Date.now(), timer: setTimeout(() => gone(id), left) });
}

function stop(id: number) {
  clearTimeout(clocks.get(id)?.timer);
  clocks.delete(id);
}

function pause() {
  if (isPaused) return;
  isPaused = true;
  for (const clock of clocks.values()) {
    clearTimeout(clock.timer);
    clock.left -= Date.now() - clock.since;
  }
}

function goOn() {
  if (!isPaused) return;
  isPaused = false;
  for (const [id, { left }] of clocks) start(id, Math.max(left, SECONDS_AFTER * 1000));
}

export function toast(text: string, options: Omit<News, "id" | "text"> = {}) {
  last += 1;
  const left = (options.action ? SECONDS_TO_ACT : SECONDS) * 1000;
  change([...shown.slice(-3), { id: last, text, ...options }]);
  if (isPaused) clocks.set(last, { left, since: Date.now(), timer: setTimeout(() => {}, 0) });
  else start(last, left);
}

/** The keys of the news: F8 goes to the newest that can be acted on, Esc closes it; the focus then returns to where it was. */
function useReach() {
  const { t } = useTranslation();
  const place = useRef<HTMLElement>(null);
  const from = useRef<Element>(null);
  const shortcuts = useMemo(
    () => [
      {
        id: "notifications",
        keys: "f8",
        label: t("toNotifications"),
        run: () => {
          const all = [...(place.current?.querySelectorAll<HTMLElement>("button") ?? [])];
          const goal = all.findLast((one) => one.hasAttribute("data-action")) ?? all.at(-1);
          if (!goal) return;
          from.current = document.activeElement;
          goal.focus();
        },
      },
    ],
    [t],
  );
  useShortcuts(shortcuts);
  const giveBack = () => {
    (from.current as HTMLElement | null)?.focus?.();
    from.current = null;
  };
  return { place, giveBack };
}

export function Toasts() {
  const { t } = useTranslation();
  const { place, giveBack } = useReach();
  const all = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => shown,
  );
  const close = (id: number) => {
    const isHere = place.current?.contains(document.activeElement);
    gone(id);
    if (!isHere) return;
    giveBack();
    if (!place.current?.matches(":hover")) goOn();
  };
  const left = (event: FocusEvent) => {
    if (!event.currentTarget.contains(event.relatedTarget)) goOn();
  };
  return (
    <section
      ref={place}
      aria-live="polite"
      aria-label={t("notifications")}
      onPointerEnter={pause}
      onPointerLeave={(event) => !event.currentTarget.contains(document.activeElement) && goOn()}
      onFocus={pause}
      onBlur={left}
      className="pointer-events-none fixed right-4 bottom-16 z-70 grid gap-2"
    >
      {all.map((news) => {
        const Icon = news.failed ? TriangleAlert : CircleCheck;
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: Esc in one of its buttons
          <div
            key={news.id}
            onKeyDown={(event: KeyboardEvent) => event.key === "Escape" && close(news.id)}
            className="pointer-events-auto flex max-w-md items-center gap-2 rounded-lg border bg-raised py-2 pr-2 pl-3 shadow-raised"
          >
            <Icon aria-hidden className={news.failed ? "size-4 shrink-0 text-danger" : "size-4 shrink-0 text-ok"} />
            <span className="grow">{news.text}</span>
            {news.action && (
              <Button
                small
                look="quiet"
                data-action
                aria-keyshortcuts="F8"
                onClick={() => {
                  news.action?.run();
                  close(news.id);
                }}
              >
                {news.action.label}
                <kbd aria-hidden className="text-xs text-muted">
                  F8
                </kbd>
              </Button>
            )}
            <IconButton small icon={X} label={t("close")} onClick={() => close(news.id)} />
          </div>
        );
      })}
    </section>
  );
}
