// What happened in a run, as people read it: the events put together into texts, calls and questions.

import { writeExact } from "../../exact";
import type { Schema } from "../../ui/schema";

export type RunEvent = { id: string | null; event: string; data: Record<string, unknown> };

export type CallBlock = {
  kind: "call";
  id: string;
  tool: string;
  arguments: unknown;
  state: "called" | "running" | "done" | "failed";
  /** The request that somebody has to decide on before it is called. */
  waitsFor?: string;
  text?: string;
  code?: string;
  elapsed?: number;
  executionId?: string;
  isCut?: boolean;
  progress?: string;
};

export type AskBlock = {
  kind: "ask";
  id: string;
  about: "question" | "approval";
  question: string;
  schema: Schema | null;
  tool: string | null;
  arguments: Record<string, unknown> | null;
  because: string;
  /** What somebody answered, and who; or that they did not want to. */
  answered?: { answer: unknown; by: string; isDeclined: boolean };
};

export type Usage = { input_tokens?: number; output_tokens?: number };

export type EndBlock = {
  kind: "end";
  id: string;
  status: string;
  output: string | null;
  usage: Usage;
  cost: number | null;
  code?: string;
  message?: string;
};

export type Block =
  | { kind: "plan"; id: string; tools: string[] }
  | { kind: "text"; id: string; text: string; isDone: boolean }
  | { kind: "note"; id: string; code: string; message: string }
  | CallBlock
  | AskBlock
  | EndBlock;

export type Transcript = { blocks: Block[]; lastEvent: string | null; isOver: boolean };

export const EMPTY: Transcript = { blocks: [], lastEvent: null, isOver: false };

const text = (value: unknown) => (typeof value === "string" ? value : "");

// What is asked says the same as the call that asks it.
const ASKS = "request_human_input";

/** The blocks with the last text no longer being written. */
function closed(blocks: Block[]): Block[] {
  const last = blocks.at(-1);
  return last?.kind === "text" && !last.isDone ? [...blocks.slice(0, -1), { ...last, isDone: true }] : blocks;
}

function changed<B extends Block>(blocks: Block[], kind: B["kind"], id: string, change: Partial<B>): Block[] {
  return blocks.map((block) => (block.kind === kind && block.id === id ? ({ ...block, ...change } as Block) : block));
}

function withText(blocks: Block[], more: string): Block[] {
  const last = blocks.at(-1);
  if (last?.kind === "text" && !last.isDone) return [...blocks.slice(0, -1), { ...last, text: last.text + more }];
  return [...blocks, { kind: "text", id: `text-${blocks.length}`, text: more, isDone: false }];
}

function withCall(blocks: Block[], data: RunEvent["data"], state: "called" | "running"): Block[] {
  const id = text(data.call_id);
  const isKnown = blocks.some((block) => block.kind === "call" && block.id === id && block.state !== "done");
  if (isKnown) return changed<CallBlock>(blocks, "call", id, { state, arguments: data.arguments });
  return [...blocks, { kind: "call", id, tool: text(data.tool), arguments: data.arguments, state }];
}

/** The call that an approval is about is not named: it is the last one of that tool with those arguments that did not begin. */
function withWaiting(blocks: Block[], { tool, arguments: args, kind, request_id }: RunEvent["data"]): Block[] {
  if (kind !== "approval") return blocks;
  const same = writeExact(args);
  const at = blocks.findLastIndex(
    (block) =>
      block.kind === "call" &&
      block.state === "called" &&
      !block.waitsFor &&
      block.tool === tool &&
      writeExact(block.arguments) === same,
  );
  return at < 0 ? blocks : blocks.with(at, { ...(blocks[at] as CallBlock), waitsFor: text(request_id) });
}

function withEnd(blocks: Block[], data: RunEvent["data"]): Block[] {
  const end: EndBlock = {
    kind: "end",
    id: "end",
    status: text(data.status),
    output: typeof data.output === "string" ? data.output : null,
    usage: (data.usage ?? {}) as Usage,
    cost: typeof data.cost === "number" ? data.cost : null,
    code: text(data.code) || undefined,
    message: text(data.message) || undefined,
  };
  // Who missed the writing, or has a run that ended with words of its own, still gets to read its output.
  const isTold = blocks.some((block) => block.kind === "text" && block.text.trim() === end.output?.trim());
  const said: Block[] = end.output && !isTold ? [{ kind: "text", id: "output", text: end.output, isDone: true }] : [];
  return [...blocks, ...said, end];
}

function after(blocks: Block[], { event, data, id }: RunEvent): Block[] {
  const own = id ?? String(blocks.length);
  switch (event) {
    case "text_delta":
      return withText(blocks, text(data.text));
    case "text_reset":
      return blocks.at(-1)?.kind === "text" ? blocks.slice(0, -1) : blocks;
    case "plan":
      return [...blocks, { kind: "plan", id: `plan-${own}`, tools: (data.tools as string[]) ?? [] }];
    case "tool_call":
      return data.tool === ASKS ? closed(blocks) : withCall(closed(blocks), data, "called");
    case "tool_started":
      return data.tool === ASKS ? blocks : withCall(closed(blocks), data, "running");
    case "tool_result":
      return changed<CallBlock>(closed(blocks), "call", text(data.call_id), {
        state: data.is_error ? "failed" : "done",
        text: text(data.text),
        code: text(data.code) || undefined,
        elapsed: typeof data.elapsed === "number" ? data.elapsed : undefined,
        executionId: text(data.execution_id) || undefined,
        isCut: data.is_cut === true,
      });
    case "progress":
      return changed<CallBlock>(blocks, "call", text(data.call_id), { progress: text(data.message) });
    case "needs_input":
      return [
        ...withWaiting(closed(blocks), data),
        {
          kind: "ask",
          id: text(data.request_id),
          about: data.kind === "approval" ? "approval" : "question",
          question: text(data.question),
          schema: (data.schema as Schema | null) ?? null,
          tool: text(data.tool) || null,
          arguments: (data.arguments as Record<string, unknown> | null) ?? null,
          because: text(data.because),
        },
      ];
    case "answered":
      return changed<AskBlock>(
        blocks.map((block) =>
          block.kind === "call" && block.waitsFor === data.request_id ? { ...block, waitsFor: undefined } : block,
        ),
        "ask",
        text(data.request_id),
        { answered: { answer: data.answer, by: text(data.by), isDeclined: data.declined === true } },
      );
    case "note":
      return [
        ...closed(blocks),
        { kind: "note", id: `note-${own}`, code: text(data.code), message: text(data.message) },
      ];
    case "done":
    case "error":
      return withEnd(closed(blocks), data);
    default:
      return blocks;
  }
}

export function told(before: Transcript, events: RunEvent[]): Transcript {
  let { blocks, lastEvent, isOver } = before;
  for (const event of events) {
    blocks = after(blocks, event);
    lastEvent = event.id ?? lastEvent;
    isOver ||= event.event === "done" || event.event === "error";
  }
  return { blocks, lastEvent, isOver };
}

const isOpenAsk = (block: Block): block is AskBlock => block.kind === "ask" && !block.answered;

/** What somebody is asked now. */
export const askedNow = ({ blocks, isOver }: Transcript): AskBlock | undefined =>
  isOver ? undefined : blocks.find(isOpenAsk);

export const isWaiting = (transcript: Transcript) => askedNow(transcript) !== undefined;

export type Outcome = "waiting" | "running" | "done" | "failed" | "stopped";

/** How a call stands. One that had no result when its run ended never got one. */
export function outcomeOf(call: CallBlock, isOver: boolean): Outcome {
  if (call.state === "done" || call.state === "failed") return call.state;
  if (isOver) return "stopped";
  return call.waitsFor ? "waiting" : "running";
}

/** Open while it is under way and nothing came after it; whoever has opened or closed it themselves is right. */
export const isCallOpen = (call: CallBlock, isLast: boolean, chosen: boolean | undefined): boolean =>
  chosen ?? (isLast || call.state === "running");
