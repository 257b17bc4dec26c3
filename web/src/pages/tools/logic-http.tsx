// The request that an HTTP tool makes.

import { ClipboardPaste } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useTranslation } from "react-i18next";
import { writeExact } from "../../exact";
import { Button } from "../../ui/button";
import { Field, Input, Select } from "../../ui/field";
import { Note } from "../../ui/note";
import { parseJson } from "../../ui/schema";
import { AuthFields } from "./auth-fields";
import { isBare, keysIn } from "./credentials";
import { type Config, withUnread } from "./draft";
import type { StepProps } from "./editor-state";
import { JsonText, type Read, readJson, textOf } from "./json-text";
import { NameValues } from "./name-values";
import { PlacesNote } from "./places-note";
import { without } from "./set-config";

const CredentialNote = lazy(() => import("./credential-note"));
const PasteCurl = lazy(() => import("./paste-curl"));

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

export function LogicHttp({ draft, change, problem }: StepProps) {
  const { t } = useTranslation("request");
  const { config } = draft;
  const [pasting, setPasting] = useState(false);
  const [pasted, setPasted] = useState(0);
  const set = (key: string, value: unknown) => change({ config: without(config, key, value) });
  const text = (key: string) => String(config[key] ?? "");
  const response = config.response;
  const isFree = !draft.auth_config || (draft.auth_config as { type?: string }).type === "none";
  const credential = (place: "header" | "query") => (name: string, value: string) => {
    const key = place === "header" ? "headers" : "query";
    const all = (config[key] ?? {}) as Record<string, unknown>;
    if (all[name] !== value || !isBare(name, value, place)) return null;
    const { [name]: _, ...others } = all;
    const left = Object.keys(others).length > 0 ? others : undefined;
    return (
      <Suspense>
        <CredentialNote
          tool={draft.name}
          name={name}
          value={value}
          onAuth={
            isFree
              ? () => change({ config: without(config, key, left), auth_config: { type: place, name, value } })
              : undefined
          }
          onSecret={(reference) => set(key, { ...all, [name]: reference })}
        />
      </Suspense>
    );
  };
  return (
    <div className="grid gap-4">
      <div className="grid items-start gap-2 md:grid-cols-[8rem_minmax(0,18rem)_minmax(0,1fr)_auto]">
        <Field label={t("http.method")} problem={problem("config.method")}>
          {(told) => (
            <Select {...told} value={text("method")} onChange={(event) => set("method", event.target.value)}>
              {METHODS.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </Select>
          )}
        </Field>
        <Field label={t("http.baseUrl")} required problem={problem("config.base_url")}>
          {(told) => (
            <Input
              {...told}
              className="font-mono"
              spellCheck={false}
              placeholder="https://api.example.com"
              value={text("base_url")}
              onChange={(event) => change({ config: { ...config, base_url: event.target.value } })}
            />
          )}
        </Field>
        <Field label={t("http.path")} problem={problem("config.path")}>
          {(told) => (
            <Input
              {...told}
              className="font-mono"
              spellCheck={false}
              placeholder="/v1/orders/{{id}}"
              value={text("path")}
              onChange={(event) => set("path", event.target.value)}
            />
          )}
        </Field>
        <Button icon={ClipboardPaste} className="md:mt-[1.55rem]" onClick={() => setPasting(true)}>
          {t("http.pasteCurl")}
        </Button>
      </div>
      <PlacesNote draft={draft} change={change} />
      <div className="grid gap-4 lg:grid-cols-2">
        <NameValues
          label={t("http.query")}
          add={t("http.addQuery")}
          placeholder="{{name}}"
          value={(config.query ?? {}) as Record<string, unknown>}
          onChange={(value) => set("query", value)}
          problem={problem("config.query")}
          note={credential("query")}
        />
        <NameValues
          label={t("http.headers")}
          add={t("http.addHeader")}
          value={(config.headers ?? {}) as Record<string, unknown>}
          onChange={(value) => set("headers", value)}
          problem={problem("config.headers")}
          note={credential("header")}
        />
      </div>
      <AuthFields
        value={draft.auth_config}
        onChange={(auth_config) => change({ auth_config })}
        problem={problem("auth_config")}
      />
      {!["GET", "HEAD"].includes(text("method")) && (
        <Body key={pasted} draft={draft} change={change} problem={problem} />
      )}
      <Field
        label={t("http.response")}
        hint={t("http.responseHint")}
        problem={problem("config.response")}
        className="max-w-xl"
      >
        {(told) => (
          <Input
            {...told}
            className="font-mono"
            spellCheck={false}
            placeholder="/data/items"
            value={typeof response === "string" ? response : response ? writeExact(response) : ""}
            onChange={(event) => set("response", responseOf(event.target.value))}
          />
        )}
      </Field>
      {pasting && (
        <Suspense>
          <PasteCurl
            onClose={() => setPasting(false)}
            onTake={({ auth, path, query, headers, body, body_type, ...rest }) => {
              let next: Config = { ...rest };
              next = without(next, "path", path);
              if (Object.keys(query).length > 0) next.query = query;
              if (Object.keys(headers).length > 0) next.headers = headers;
              if (body !== undefined) Object.assign(next, { body, body_type });
              change({
                config: next,
                ...withUnread(draft, "config.body", undefined),
                ...(auth ? { auth_config: auth } : {}),
              });
              // The body's text is its field's own until another comes from outside.
              setPasted(pasted + 1);
            }}
          />
        </Suspense>
      )}
    </div>
  );
}

const responseOf = (text: string): unknown => {
  const parsed = text.startsWith("{") ? parseJson(text) : null;
  return parsed && "value" in parsed ? parsed.value : text;
};

function Body({ draft, change, problem }: Pick<StepProps, "draft" | "change" | "problem">) {
  const { t } = useTranslation("request");
  const { body } = draft.config;
  const unread = draft.unread?.["config.body"];
  const keys = keysIn({ body }).map((path) => path.split(".").slice(1).join("."));
  const type = String(draft.config.body_type ?? "json");
  const take = (read: Read, config: Config) =>
    change(
      "unread" in read
        ? { config, ...withUnread(draft, "config.body", read.unread) }
        : { config: without(config, "body", read.value), ...withUnread(draft, "config.body", undefined) },
    );
  // The same text may be another value, or none, as another type.
  const retype = (next: string) => {
    const text = unread ?? textOf(body, type === "text");
    take(next === "text" ? { value: text } : readJson(text), { ...draft.config, body_type: next });
  };
  return (
    <div className="grid gap-2">
      <Field label={t("http.bodyType")} className="max-w-48">
        {(told) => (
          <Select {...told} value={type} onChange={(event) => retype(event.target.value)}>
            {["json", "form", "multipart", "text"].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </Select>
        )}
      </Field>
      <JsonText
        key={type}
        plain={type === "text"}
        label={t("http.body")}
        value={body}
        unread={unread}
        className="h-40"
        onChange={(read) => take(read, draft.config)}
      />
      {problem("config.body") && <p className="text-sm text-danger">{problem("config.body")}</p>}
      {keys.length > 0 && (
        <Note tone="warn" className="text-sm">
          {t("credential.inBody", { names: keys.join(", "), reference: '{"$secret": "name"}' })}
        </Note>
      )}
      <p className="text-xs text-muted">{t("http.bodyHint", { place: "{{name}}" })}</p>
    </div>
  );
}
