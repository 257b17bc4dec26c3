// What a server offers, as it describes it: tools, resources or prompts.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Wrench } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { useMay } from "../../api/me";
import { useAddress } from "../../search";
import { Badge } from "../../ui/badge";
import { Button, buttonClass } from "../../ui/button";
import { Json } from "../../ui/json";
import { Drawer } from "../../ui/overlay";
import { SearchBox } from "../../ui/search-box";
import { Empty, Failed, Skeleton } from "../../ui/states";
import { fits } from "../../words";
import { type Offer, type OfferKind, offersQuery, type ServerView } from "./queries";

const idOf = (offer: Offer) => offer.uri ?? offer.uriTemplate ?? offer.name ?? "";

function Resource({ server, uri, onClose }: { server: string; uri: string; onClose: () => void }) {
  const { t } = useTranslation("servers");
  const read = useQuery({
    queryKey: ["servers", "resource", server, uri],
    queryFn: () =>
      got(
        api.GET("/api/v1/servers/{name}/resources/read", { params: { path: { name: server }, query: { uri } } }),
      ) as Promise<{ contents?: Array<{ text?: string; blob?: string; mimeType?: string }> }>,
  });
  return (
    <Drawer open onClose={onClose} wide title={t("offers.read")} about={uri}>
      {read.error && <Failed error={read.error} again={() => void read.refetch()} />}
      {read.isPending && <Skeleton rows={3} />}
      {read.data?.contents?.map((content, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
        <div key={at} className="grid gap-1">
          <Badge>{content.mimeType ?? "?"}</Badge>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys */}
          <pre tabIndex={0} className="overflow-x-auto rounded-md border bg-sunken p-3 text-sm whitespace-pre-wrap">
            {content.text ?? t("offers.binary", { count: content.blob?.length ?? 0 })}
          </pre>
        </div>
      ))}
    </Drawer>
  );
}

function OneOffer({
  server,
  kind,
  offer,
  onRead,
}: {
  server: ServerView;
  kind: OfferKind;
  offer: Offer;
  onRead: () => void;
}) {
  const { t } = useTranslation("servers");
  const mayAuthor = useMay("author");
  const hidden = kind === "tools" && offer.name ? server.hidden_letters[offer.name] : undefined;
  return (
    <li className="px-4 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-mono font-medium">{offer.name ?? idOf(offer)}</span>
        {offer.title && <span className="text-muted">{offer.title}</span>}
        {offer.annotations?.readOnlyHint && <Badge tone="ok">{t("offers.readOnly")}</Badge>}
        {offer.annotations?.destructiveHint && <Badge tone="danger">{t("offers.destructive")}</Badge>}
        {offer.mimeType && <Badge>{offer.mimeType}</Badge>}
        {hidden && <Badge tone="danger">{t("hiddenLetters", { count: 1 })}</Badge>}
        <span className="grow" />
        {offer.uri && (
          <Button
            small
            look="quiet"
            onClick={onRead}
            aria-label={t("offers.readThis", { name: offer.name ?? offer.uri })}
          >
            {t("offers.read")}
          </Button>
        )}
        {kind === "tools" && mayAuthor && (
          <Link
            to="/tools/new"
            search={{ kind: "mcp", server: server.name, tool: offer.name } as never}
            className={buttonClass("quiet", true)}
          >
            <Wrench aria-hidden className="size-4" />
            {t("offers.makeTool")}
          </Link>
        )}
      </div>
      {kind === "resources" && <p className="font-mono text-xs text-muted">{idOf(offer)}</p>}
      {offer.description && <p className="whitespace-pre-wrap text-muted">{offer.description}</p>}
      {offer.arguments && offer.arguments.length > 0 && (
        <p className="mt-1 flex flex-wrap gap-1">
          {offer.arguments.map((argument) => (
            <Badge key={argument.name}>
              {argument.name}
              {argument.required ? " *" : ""}
            </Badge>
          ))}
        </p>
      )}
      {offer.inputSchema !== undefined && (
        <details className="mt-1">
          <summary className="text-sm text-muted">{t("offers.schema")}</summary>
          <Json value={offer.inputSchema} label={`${t("offers.schema")} ${offer.name}`} className="mt-1 max-h-72" />
        </details>
      )}
    </li>
  );
}

export function Offers({ server, kind }: { server: ServerView; kind: OfferKind }) {
  const { t } = useTranslation(["servers", "frame"]);
  const [found, change] = useAddress();
  const [reading, setReading] = useState<string | null>(null);
  const offers = useQuery(offersQuery(server.name, kind));
  if (offers.error) return <Failed error={offers.error} again={() => void offers.refetch()} />;
  if (!offers.data) return <Skeleton rows={4} />;
  const shown = offers.data.filter((offer) => fits(found.q, offer.name, offer.title, offer.description, idOf(offer)));
  if (offers.data.length === 0) return <Empty title={t(`offers.no.${kind}`)}>{t("offers.noAbout")}</Empty>;
  return (
    <div className="grid gap-3">
      <SearchBox />
      {server.tools_left_out > 0 && kind === "tools" && (
        <p className="text-warn">{t("offers.leftOut", { count: server.tools_left_out })}</p>
      )}
      {shown.length === 0 ? (
        <Empty
          title={t("frame:nothingFits")}
          action={<Button onClick={() => change({ q: undefined })}>{t("frame:clearFilters")}</Button>}
        />
      ) : (
        <ul className="divide-y rounded-lg border bg-panel">
          {shown.map((offer) => (
            <OneOffer
              key={idOf(offer) + offer.name}
              {...{ server, kind, offer }}
              onRead={() => setReading(offer.uri ?? null)}
            />
          ))}
        </ul>
      )}
      {reading && <Resource server={server.name} uri={reading} onClose={() => setReading(null)} />}
    </div>
  );
}
