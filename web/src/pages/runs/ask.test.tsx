// What somebody has written to a run that waits is there when they come back, until it is sent.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import form from "../../i18n/en/form.json";
import frame from "../../i18n/en/frame.json";
import runs from "../../i18n/en/runs.json";
import { TipProvider } from "../../ui/tip";
import { Ask } from "./ask";
import type { AskBlock } from "./transcript";

const given = vi.hoisted(() => vi.fn(async (_run: string, _request: string, _reply: unknown) => ({})));
vi.mock("./queries", () => ({ giveReply: given }));
vi.mock("../../api/me", () => ({ useMay: () => true }));

beforeAll(async () => {
  const resources = { en: { form, frame, runs } };
  await i18next.use(initReactI18next).init({ lng: "en", resources, defaultNS: "frame" });
});
beforeEach(() => {
  sessionStorage.clear();
  given.mockClear();
});
afterEach(cleanup);

const question: AskBlock = {
  kind: "ask",
  id: "q1",
  about: "question",
  question: "Where to?",
  schema: {
    type: "object",
    properties: { street: { type: "string" }, pin: { type: "string", "x-secret": true } },
    required: ["street", "pin"],
  },
  tool: null,
  arguments: null,
  because: "",
};
const approval: AskBlock = {
  ...question,
  id: "a1",
  about: "approval",
  tool: "shred",
  schema: null,
  arguments: { a: "x" },
};

const shown = (ask: AskBlock) => {
  cleanup();
  render(
    <QueryClientProvider client={new QueryClient()}>
      <TipProvider>
        <Ask run="r" ask={ask} isOver={false} />
      </TipProvider>
    </QueryClientProvider>,
  );
};
const field = (label: RegExp) => screen.getByLabelText(label) as HTMLTextAreaElement;
const write = (label: RegExp, value: string) => fireEvent.change(field(label), { target: { value } });
const click = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));

test("an answer that was begun is there again, but for its secrets", async () => {
  shown(question);
  write(/^street/, "Sejong-daero 1");
  write(/^pin/, "1234");
  shown(question);
  expect(field(/^street/).value).toBe("Sejong-daero 1");
  expect(field(/^pin/).value).toBe("");
  expect(JSON.stringify({ ...sessionStorage })).not.toContain("1234");
  shown({ ...question, id: "q2" });
  expect(field(/^street/).value).toBe("");
});

test("once it is sent nothing of it is kept", async () => {
  shown(question);
  write(/^street/, "Sejong-daero 1");
  await click(runs.answer);
  expect(given).toHaveBeenCalledWith("r", "q1", { answer: { street: "Sejong-daero 1" } });
  expect(sessionStorage.length).toBe(0);
});

test("so is why somebody says no", async () => {
  shown(approval);
  await click(runs.decide.reject);
  fireEvent.change(screen.getByRole("textbox"), { target: { value: "Not this one" } });
  shown(approval);
  expect(screen.getByRole("textbox")).toHaveProperty("value", "Not this one");
  await click(runs.decide.rejectNow);
  expect(given).toHaveBeenCalledWith("r", "a1", { answer: { decision: "reject", text: "Not this one" } });
  expect(sessionStorage.length).toBe(0);
});

test("nobody has to answer a question", async () => {
  shown({ ...question, tool: "send_parcel" });
  screen.getByText("For send_parcel");
  write(/^street/, "Sejong-daero 1");
  await click(runs.decline);
  expect(given).toHaveBeenCalledWith("r", "q1", { decline: true });
  expect(sessionStorage.length).toBe(0);
  shown({ ...question, answered: { answer: null, by: "kim", isDeclined: true } });
  screen.getByText(runs.declined);
});
