// Tools that run something: a Python function, a program as a list of words, or what is built in.

import { useQuery } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import { lazy, Suspense, useRef } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { writeExact } from "../../exact";
import { Button, IconButton } from "../../ui/button";
import { Field, Input, Select, TextArea, TextField } from "../../ui/field";
import { Note } from "../../ui/note";
import type { Schema } from "../../ui/schema";
import { Suggest } from "../../ui/suggest";
import { isBare } from "./credentials";
import { parametersOf } from "./draft";
import type { StepProps } from "./editor-state";
import { NameValues } from "./name-values";
import { PlacesNote } from "./places-note";
import { without } from "./set-config";
import { argumentsOf } from "./tries";

const CredentialNote = lazy(() => import("./credential-note"));

function Surroundings({ draft, change, problem }: StepProps) {
  const { t } = useTranslation("programs");
  const set = (key: string, value: unknown) => change({ config: without(draft.config, key, value) });
  const env = (draft.config.env ?? {}) as Record<string, unknown>;
  return (
    <>
      <NameValues
        label={t("program.env")}
        add={t("program.addEnv")}
        placeholder={'{"$secret": "name"}'}
        value={env}
        onChange={(value) => set("env", value)}
        problem={problem("config.env")}
        note={(name, value) =>
          isBare(name, value, "env") &&
          env[name] === value && (
            <Suspense>
              <CredentialNote
                tool={draft.name}
                name={name}
                value={value}
                onSecret={(reference) => set("env", { ...env, [name]: reference })}
              />
            </Suspense>
          )
        }
      />
      <Field
        label={t("program.sandbox")}
        hint={t("program.sandboxHint")}
        problem={problem("config.sandbox")}
        className="max-w-md"
      >
        {(told) => (
          <Select
            {...told}
            value={String(draft.config.sandbox ?? "")}
            onChange={(event) => set("sandbox", event.target.value)}
          >
            <option value="">{t("program.sandboxes.usual")}</option>
            <option value="off">{t("program.sandboxes.off")}</option>
            <option value="auto">{t("program.sandboxes.auto")}</option>
            <option value="require">{t("program.sandboxes.require")}</option>
          </Select>
        )}
      </Field>
    </>
  );
}

export function LogicPython(props: StepProps) {
  const { t } = useTranslation("programs");
  const { draft, change, problem } = props;
  const { config } = draft;
  const isModule = config.module !== undefined;
  const set = (key: string, value: unknown) => change({ config: without(config, key, value) });
  return (
    <div className="grid gap-4">
      <Note tone="warn">{t("program.risk")}</Note>
      <Field label={t("python.from")} className="max-w-xs">
        {(told) => (
          <Select
            {...told}
            value={isModule ? "module" : "script"}
            onChange={(event) => {
              const { script: _s, module: _m, ...others } = config;
              change({
                config:
                  event.target.value === "module" ? { ...others, module: "", function: "" } : { ...others, script: "" },
              });
            }}
          >
            <option value="script">{t("python.script")}</option>
            <option value="module">{t("python.module")}</option>
          </Select>
        )}
      </Field>
      <div className="grid items-start gap-3 md:grid-cols-2">
        {isModule ? (
          <TextField
            label={t("python.module")}
            required
            problem={problem("config.module")}
            spellCheck={false}
            placeholder="package.module"
            value={String(config.module ?? "")}
            onChange={(event) => change({ config: { ...config, module: event.target.value } })}
          />
        ) : (
          <TextField
            label={t("python.script")}
            required
            problem={problem("config.script")}
            hint={t("python.scriptHint")}
            spellCheck={false}
            placeholder="tools/welcome.py"
            value={String(config.script ?? "")}
            onChange={(event) => change({ config: { ...config, script: event.target.value } })}
          />
        )}
        <TextField
          label={t("python.function")}
          problem={problem("config.function")}
          spellCheck={false}
          placeholder="execute"
          value={String(config.function ?? "")}
          onChange={(event) => set("function", event.target.value)}
        />
      </div>
      <Surroundings {...props} />
    </div>
  );
}

/** The words that a program would be given: `{{name}}` is one word, a list several, what is left out none. */
export function argvOf(command: string[], args: Record<string, unknown>): string[] {
  return command.flatMap((word) => {
    const alone = /^\{\{\s*([^{}]+?)\s*\}\}$/.exec(word)?.[1];
    const text = (value: unknown) => (typeof value === "string" ? value : writeExact(value));
    if (alone) {
      const value = args[alone];
      if (value === undefined || value === null) return args && alone in args ? [] : [word];
      return Array.isArray(value) ? value.map(text) : [text(value)];
    }
    return [
      word.replace(/\{\{\s*([^{}]+?)\s*\}\}/g, (place, name: string) => (name in args ? text(args[name]) : place)),
    ];
  });
}

const shown = (word: string) => (/^[\w@%+=:,./{}-]+$/.test(word) ? word : writeExact(word));

export function LogicShell(props: StepProps) {
  const { t } = useTranslation("programs");
  const { draft, change, problem } = props;
  const command = Array.isArray(draft.config.command) ? (draft.config.command as string[]) : [""];
  const set = (next: string[]) => change({ config: { ...draft.config, command: next } });
  // Only one that was just added: who comes here is not put somewhere.
  const isAdded = useRef(false);
  return (
    <div className="grid gap-4">
      <Note tone="warn">{t("program.risk")}</Note>
      <fieldset className="grid gap-1.5">
        <legend className="mb-1 text-sm font-medium">{t("shell.command")}</legend>
        {command.map((word, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a word is its place
          <div key={at} className="flex items-center gap-2">
            <span aria-hidden className="w-6 text-right text-sm text-muted tabular-nums">
              {at}
            </span>
            <Input
              aria-label={at === 0 ? t("shell.program") : t("shell.word", { number: at })}
              className="max-w-xl font-mono"
              spellCheck={false}
              ref={(input) => {
                if (!input || !isAdded.current || at < command.length - 1) return;
                isAdded.current = false;
                input.focus();
              }}
              placeholder={at === 0 ? "wc" : undefined}
              value={word}
              onChange={(event) => set(command.with(at, event.target.value))}
            />
            {at > 0 && (
              <IconButton
                small
                icon={Trash2}
                label={t("shell.removeWord", { number: at })}
                onClick={() => set(command.toSpliced(at, 1))}
              />
            )}
          </div>
        ))}
        <div>
          <Button
            small
            icon={Plus}
            onClick={() => {
              isAdded.current = true;
              set([...command, ""]);
            }}
          >
            {t("shell.addWord")}
          </Button>
        </div>
        {problem("config.command") && <p className="text-sm text-danger">{problem("config.command")}</p>}
      </fieldset>
      <PlacesNote draft={draft} change={change} />
      <div>
        <p className="text-sm font-medium">{t("shell.preview")}</p>
        <pre className="rounded-md border bg-sunken p-2 text-sm whitespace-pre-wrap">
          {argvOf(command, argumentsOf(props.keep)).map(shown).join(" ")}
        </pre>
        <p className="text-xs text-muted">{t("shell.previewHint")}</p>
      </div>
      <Field
        label={t("shell.stdin")}
        hint={t("shell.stdinHint")}
        problem={problem("config.stdin")}
        className="max-w-xl"
      >
        {(told) => (
          <TextArea
            {...told}
            rows={2}
            className="font-mono"
            spellCheck={false}
            placeholder="{{text}}"
            value={typeof draft.config.stdin === "string" ? draft.config.stdin : ""}
            onChange={(event) => change({ config: without(draft.config, "stdin", event.target.value) })}
          />
        )}
      </Field>
      <Surroundings {...props} />
    </div>
  );
}

export function LogicBuiltin({ draft, change, problem }: StepProps) {
  const { t } = useTranslation("programs");
  const name = String(draft.config.name ?? "");
  const found = useQuery({
    queryKey: ["tools", "builtins"],
    queryFn: () =>
      got(api.GET("/api/v1/tools", { params: { query: { kind: "builtin", limit: 500 } } })).then((page) =>
        page.items.filter((one) => one.shelf === "builtin"),
      ),
  });
  const one = found.data?.find((tool) => tool.name === name);
  return (
    <div className="grid max-w-2xl gap-3">
      <p className="text-muted">{t("builtin.about")}</p>
      <Suggest
        label={t("builtin.name")}
        required
        problem={problem("config.name")}
        value={name}
        options={(found.data ?? []).map((tool) => tool.name)}
        onChange={(event) => change({ config: { ...draft.config, name: event.target.value } })}
      />
      {one && (
        <>
          <p className="text-sm text-muted">{one.description}</p>
          <div>
            <Button small onClick={() => change(parametersOf(one.input_schema as Schema))}>
              {t("builtin.take")}
            </Button>
          </div>
        </>
      )}
    </div>
  );
}
