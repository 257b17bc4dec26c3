// Everything by its name: places, tools, and what can be done here.

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Plus, Wrench } from "lucide-react";
import { Dialog } from "radix-ui";
import { useDeferredValue, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../api/client";
import { useMe } from "../api/me";
import { shownKeys, useAllShortcuts } from "../keys";
import { places } from "../nav";
import { useOpener } from "../ui/opener";

const row =
  "flex h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 data-[selected=true]:bg-accent-soft data-[selected=true]:text-accent-text";

export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const { scopes } = useMe();
  const navigate = useNavigate();
  const shortcuts = useAllShortcuts();
  const opener = useOpener();
  const [text, setText] = useState("");
  const sought = useDeferredValue(text.trim());
  const tools = useQuery({
    queryKey: ["tools", "palette", sought],
    queryFn: () => got(api.GET("/api/v1/tools", { params: { query: { q: sought, limit: 8 } } })),
    enabled: open && sought.length > 0,
  });
  const close = () => {
    setText("");
    onClose();
  };
  const go = (to: string) => {
    close();
    void navigate({ to });
  };
  const seen = places.filter((place) => !place.scope || scopes.includes(place.scope) || scopes.includes("admin"));
  return (
    <Dialog.Root open={open} onOpenChange={(now) => !now && close()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Content
          aria-describedby={undefined}
          {...opener}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 rounded-lg border bg-raised shadow-raised"
        >
          <Dialog.Title className="sr-only">{t("palette.open")}</Dialog.Title>
          <Command label={t("palette.open")} shouldFilter>
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder={t("palette.hint")}
              className="h-12 w-full border-b bg-transparent px-4 text-base outline-none"
            />
            <Command.List className="max-h-[50vh] overflow-y-auto p-2">
              <Command.Empty className="p-4 text-center text-muted">{t("palette.nothing")}</Command.Empty>
              {tools.data && tools.data.items.length > 0 && (
                <Command.Group heading={t("nav.tools")}>
                  {tools.data.items.map((tool) => (
                    <Command.Item
                      key={tool.id}
                      value={`tool ${tool.name} ${sought}`}
                      onSelect={() => go(`/tools/${encodeURIComponent(tool.name)}`)}
                      className={row}
                    >
                      <Wrench aria-hidden className="size-4" />
                      <span className="font-mono">{tool.name}</span>
                      <span className="truncate text-muted">{tool.description_user ?? tool.description}</span>
                    </Command.Item>
                  ))}
                </Command.Group>
              )}
              <Command.Group heading={t("palette.places")}>
                {seen.map((place) => (
                  <Command.Item
                    key={place.path}
                    value={`${t(place.label)} ${place.path}`}
                    onSelect={() => go(place.path)}
                    className={row}
                  >
                    <place.icon aria-hidden className="size-4" />
                    <span className="grow">{t(place.label)}</span>
                    {place.key && <kbd className="text-xs text-muted">G {place.key.toUpperCase()}</kbd>}
                  </Command.Item>
                ))}
              </Command.Group>
              <Command.Group heading={t("palette.actions")}>
                <Command.Item value={t("palette.newTool")} onSelect={() => go("/tools/new")} className={row}>
                  <Plus aria-hidden className="size-4" />
                  <span className="grow">{t("palette.newTool")}</span>
                </Command.Item>
                {shortcuts
                  .filter((one) => !one.keys.startsWith("g "))
                  .map((one) => (
                    <Command.Item
                      key={one.id}
                      value={one.label}
                      onSelect={() => {
                        close();
                        one.run();
                      }}
                      className={row}
                    >
                      <span className="grow">{one.label}</span>
                      <kbd className="text-xs text-muted">{shownKeys(one.keys).join(" ")}</kbd>
                    </Command.Item>
                  ))}
              </Command.Group>
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
