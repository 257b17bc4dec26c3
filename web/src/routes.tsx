// The one list of addresses. Each page is loaded when somebody goes there; what a list shows stands in its address.

import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import type { FlatNamespace } from "i18next";
import { ApiError } from "./api/errors";
import { meQuery } from "./api/me";
import { expectArrival } from "./arrival";
import { loadTexts } from "./i18n";
import { queries } from "./queries";
import { Broken, NotFound } from "./shell/failures";
import { Shell } from "./shell/shell";
import { isMissing, PageMissing } from "./stale";
import { Skeleton } from "./ui/states";
import { rememberWay, takeWay } from "./way";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: Broken,
  beforeLoad: async ({ location }) => {
    try {
      await queries.ensureQueryData(meQuery);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      rememberWay(location.href);
      throw redirect({ href: "/login", reloadDocument: true });
    }
    const way = takeWay();
    if (way && way !== location.href) throw redirect({ href: way, replace: true });
  },
});

/** Search parameters are kept as they are: each page reads and checks its own. */
const search = (found: Record<string, unknown>) => found as Record<string, string | undefined>;

type Area = FlatNamespace;

/** `texts` come with the page, where that is known; others are asked for by what is on it. */
function page(path: string, load: () => Promise<{ default: () => React.ReactNode }>, texts: Area[] = []) {
  const loaded = async () => {
    const coming = texts.length > 0 ? loadTexts(texts) : undefined;
    try {
      const found = await load();
      await coming;
      return found;
    } catch (cause) {
      throw isMissing(cause) ? new PageMissing(cause) : cause;
    }
  };
  const component = lazyRouteComponent(loaded);
  return createRoute({ getParentRoute: () => root, path, validateSearch: search, component });
}

const routes = [
  page("/", () => import("./pages/overview/overview"), ["home", "executions"]),
  page("/tools", () => import("./pages/tools/list"), ["tools"]),
  page("/tools/new", () => import("./pages/tools/editor")),
  page("/tools/$name", () => import("./pages/tools/editor")),
  page("/tools/$name/versions", () => import("./pages/tools/versions")),
  page("/executions", () => import("./pages/executions/list"), ["executions"]),
  page("/executions/$id", () => import("./pages/executions/one")),
  page("/agents", () => import("./pages/agents/list")),
  page("/agents/new", () => import("./pages/agents/editor")),
  page("/agents/$name", () => import("./pages/agents/editor")),
  page("/analytics", () => import("./pages/analytics/analytics")),
  page("/playground", () => import("./pages/playground/playground")),
  page("/runs", () => import("./pages/runs/list")),
  page("/runs/$id", () => import("./pages/runs/one")),
  page("/servers", () => import("./pages/servers/list")),
  page("/servers/new", () => import("./pages/servers/form")),
  page("/servers/$name", () => import("./pages/servers/detail")),
  page("/servers/$name/edit", () => import("./pages/servers/form")),
  page("/sources", () => import("./pages/sources/list")),
  page("/sources/new", () => import("./pages/sources/form")),
  page("/sources/$name", () => import("./pages/sources/detail")),
  page("/sources/$name/edit", () => import("./pages/sources/form")),
  page("/toolsets", () => import("./pages/toolsets/list")),
  page("/toolsets/new", () => import("./pages/toolsets/editor")),
  page("/toolsets/$name", () => import("./pages/toolsets/editor")),
  page("/policies", () => import("./pages/policies/policy")),
  page("/limits", () => import("./pages/limits/list")),
  page("/keys", () => import("./pages/keys/list")),
  page("/users", () => import("./pages/users/list")),
  page("/audit", () => import("./pages/audit/list")),
  page("/settings", () => import("./pages/settings/settings")),
];

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: "intent",
  // A page that breaks takes nothing of what stands around it along.
  defaultErrorComponent: Broken,
  defaultPendingComponent: () => <Skeleton />,
  defaultPendingMs: 150,
  scrollRestoration: true,
  // `?q=1` is the text that somebody typed, not a number.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (found) => {
    const kept = Object.entries(found).filter(([, value]) => value !== undefined && value !== "");
    const text = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
    return text ? `?${text}` : "";
  },
});

router.subscribe("onBeforeLoad", expectArrival);
