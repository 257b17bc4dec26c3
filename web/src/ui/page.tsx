// The frame of every page: its title, what it is for, what can be done.

import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import { useArrival } from "../arrival";

type Props = {
  title: ReactNode;
  name?: string;
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  fill?: boolean;
};

/** `name` is the title of the browser's tab where `title` is more than a text. */
export function Page({ title, name, about, actions, children, fill }: Props) {
  const tab = name ?? (typeof title === "string" ? title : "");
  useEffect(() => {
    document.title = tab ? `${tab} · Toolcrib` : "Toolcrib";
  }, [tab]);
  const heading = useRef<HTMLHeadingElement>(null);
  useArrival(heading, tab);
  return (
    <div
      className={fill ? "flex h-full min-h-0 flex-col px-4 pt-4 md:px-6" : "mx-auto max-w-[100rem] px-4 py-4 md:px-6"}
    >
      <header className="mb-4 flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="min-w-0 grow">
          <h1 ref={heading} tabIndex={-1} className="text-xl font-semibold outline-none">
            {title}
          </h1>
          {about && <p className="text-muted">{about}</p>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function Card({
  title,
  actions,
  children,
  className,
}: {
  title?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <section className={`rounded-lg border bg-panel ${className ?? ""}`}>
      {title && (
        <div className="flex items-center gap-2 border-b px-4 py-2.5">
          <h2 className="grow font-semibold">{title}</h2>
          {actions}
        </div>
      )}
      <div className="p-4">{children}</div>
    </section>
  );
}
