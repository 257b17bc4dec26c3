// What stands around every page: the rail, the bar, and what must be said wherever one is.

import { Outlet } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useState, useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";
import { isDeveloper, useMe } from "../api/me";
import { connection } from "../api/session";
import { Toasts } from "../ui/toast";
import { Bar } from "./bar";
import { Rail } from "./rail";
import { useGlobalKeys } from "./use-global-keys";

// Only loaded once somebody needs them: they bring what stands above the page.
const Palette = lazy(() => import("./palette").then((it) => ({ default: it.Palette })));
const NarrowMenu = lazy(() => import("./narrow-menu").then((it) => ({ default: it.NarrowMenu })));
const KeySheet = lazy(() => import("./key-sheet").then((it) => ({ default: it.KeySheet })));
const Connect = lazy(() => import("./connect").then((it) => ({ default: it.Connect })));
const LogInAgain = lazy(() => import("./log-in-again").then((it) => ({ default: it.LogInAgain })));

export function Shell() {
  const { t } = useTranslation();
  const [palette, setPalette] = useState(false);
  const [sheet, setSheet] = useState(false);
  const [menu, setMenu] = useState(false);
  const [connecting, setConnecting] = useState(false);
  const me = useMe();
  const closeMenu = useCallback(() => setMenu(false), []);
  const { reachable, expired } = useSyncExternalStore(connection.subscribe, connection.current);
  useGlobalKeys({ openPalette: () => setPalette(true), openSheet: () => setSheet(true) });
  return (
    <div className="grid h-dvh grid-cols-[minmax(0,1fr)] grid-rows-[auto_auto_minmax(0,1fr)] lg:grid-cols-[auto_minmax(0,1fr)]">
      <a href="#main" className="absolute -top-10 left-2 z-80 rounded bg-accent px-3 py-1 text-accent-fg focus:top-2">
        {t("skipToContent")}
      </a>
      <div className="col-span-full">
        {isDeveloper(me) && <p className="bg-warn-soft px-4 py-0.5 text-center text-xs text-warn">{t("devMode")}</p>}
        {!reachable && (
          <p role="alert" className="bg-warn-soft px-4 py-1.5 text-center text-warn">
            {t("serverGone")}
          </p>
        )}
      </div>
      <Rail />
      <Bar onMenu={() => setMenu(true)} onSearch={() => setPalette(true)} onConnect={() => setConnecting(true)} />
      <main id="main" tabIndex={-1} className="min-h-0 overflow-y-auto outline-none">
        <Outlet />
      </main>
      <Suspense>
        {menu && <NarrowMenu onClose={closeMenu} />}
        {palette && <Palette open onClose={() => setPalette(false)} onConnect={() => setConnecting(true)} />}
        {connecting && <Connect open onClose={() => setConnecting(false)} />}
        {sheet && <KeySheet open onClose={() => setSheet(false)} />}
        {expired && <LogInAgain />}
      </Suspense>
      <Toasts />
    </div>
  );
}
