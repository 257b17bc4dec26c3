// The one list of the page's places: the rail, the palette and the keys to go there all read it.

import type { ParseKeys } from "i18next";
import type { LucideIcon } from "lucide-react";
import {
  Bot,
  ChartColumn,
  Database,
  FileClock,
  Gauge,
  House,
  KeyRound,
  Layers,
  ListChecks,
  MessagesSquare,
  Plug,
  ScrollText,
  Settings,
  Shield,
  Users,
  Wrench,
} from "lucide-react";
import type { Scope } from "./api/me";

export type Place = {
  path: string;
  label: ParseKeys<"frame">;
  icon: LucideIcon;
  /** The key after G that goes there. */
  key?: string;
  /** What one must be able to do to see it. */
  scope?: Scope;
};

export type Group = { label?: ParseKeys<"frame">; places: Place[] };

export const groups: Group[] = [
  { places: [{ path: "/", label: "nav.home", icon: House, key: "h" }] },
  {
    label: "nav.build",
    places: [
      { path: "/tools", label: "nav.tools", icon: Wrench, key: "t" },
      { path: "/toolsets", label: "nav.toolsets", icon: Layers, key: "o" },
      { path: "/servers", label: "nav.servers", icon: Plug, key: "s" },
      { path: "/sources", label: "nav.sources", icon: Database, key: "d" },
      { path: "/agents", label: "nav.agents", icon: Bot, key: "a" },
    ],
  },
  {
    label: "nav.operate",
    places: [
      { path: "/playground", label: "nav.playground", icon: MessagesSquare, key: "p" },
      { path: "/runs", label: "nav.runs", icon: ListChecks, key: "r" },
      { path: "/executions", label: "nav.executions", icon: ScrollText, key: "e" },
      { path: "/analytics", label: "nav.analytics", icon: ChartColumn, key: "y" },
    ],
  },
  {
    label: "nav.govern",
    places: [
      { path: "/policies", label: "nav.policies", icon: Shield, key: "i", scope: "admin" },
      { path: "/limits", label: "nav.limits", icon: Gauge, key: "l" },
      { path: "/keys", label: "nav.keys", icon: KeyRound, key: "k" },
      { path: "/users", label: "nav.users", icon: Users, key: "u", scope: "admin" },
      { path: "/audit", label: "nav.audit", icon: FileClock, key: "b", scope: "admin" },
    ],
  },
  { places: [{ path: "/settings", label: "nav.settings", icon: Settings, key: "," }] },
];

export const places = groups.flatMap((group) => group.places);
