// The title of a page that stands below another: the way back, and its own name.

import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

export function Crumbs({ to, label, children }: { to: string; label: string; children: ReactNode }) {
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      <Link to={to} className="font-normal text-muted no-underline hover:text-fg hover:underline">
        {label}
      </Link>
      <ChevronRight aria-hidden className="size-4 text-muted" />
      <span>{children}</span>
    </span>
  );
}
