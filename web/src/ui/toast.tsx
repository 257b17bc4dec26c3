// Short news at the edge of the page: something worked, and how to take it back. Errors stay where they happened.

import { CircleCheck, TriangleAlert, X } from "lucide-react";
import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "./button";

type News = { id: number; text: string; failed?: boolean; action?: { label: string; run: () => void } };

const SECONDS = 6;
let shown: News[] = [];
let last = 0;
const listeners = new Set<() => void>();

function change(next: News[]) {
  shown = next;
  for (const listener of listeners) listener();
}

const gone = (id: number) => change(shown.filter((news) => news.id !== id));

export function toast(text: string, options: Omit<News, "id" | "text"> = {}) {
  last += 1;
  const id = last;
  change([...shown.slice(-3), { id, text, ...options }]);
  setTimeout(() => gone(id), SECONDS * 1000);
}

export function Toasts() {
  const { t } = useTranslation();
  const all = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => shown,
  );
  return (
    <section
      aria-live="polite"
      aria-label={t("notifications")}
      className="pointer-events-none fixed right-4 bottom-16 z-70 grid gap-2"
    >
      {all.map((news) => {
        const Icon = news.failed ? TriangleAlert : CircleCheck;
        return (
          <div
            key={news.id}
            className="pointer-events-auto flex max-w-md items-center gap-2 rounded-lg border bg-raised py-2 pr-2 pl-3 shadow-raised"
          >
            <Icon aria-hidden className={news.failed ? "size-4 shrink-0 text-danger" : "size-4 shrink-0 text-ok"} />
            <span className="grow whitespace-pre-line">{news.text}</span>
            {news.action && (
              <Button
                small
                look="quiet"
                onClick={() => {
                  news.action?.run();
                  gone(news.id);
                }}
              >
                {news.action.label}
              </Button>
            )}
            <IconButton small icon={X} label={t("close")} onClick={() => gone(news.id)} />
          </div>
        );
      })}
    </section>
  );
}
