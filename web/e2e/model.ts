// A model for tests: a server on this machine that speaks OpenAI's wire format and says what its script says.

import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Said = { text?: string; call?: { name: string; arguments: unknown }; everyMs?: number };
type Message = { role: string; content?: string };

/** Pieces of a text as they come off the wire: a few letters each. */
const pieces = (text: string): string[] => text.match(/[\s\S]{1,24}/g) ?? [];

export class Model {
  readonly asked: Message[][] = [];
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** Says what `script` says to a conversation; `everyMs` is the time between two pieces of a text. */
  static async speaking(script: (messages: Message[]) => Said): Promise<Model> {
    const server = createServer(async (request, response) => {
      let body = "";
      for await (const bytes of request) body += bytes;
      const { messages } = JSON.parse(body) as { messages: Message[] };
      model.asked.push(messages);
      await tell(response, script(messages));
    });
    await new Promise<void>((listens) => server.listen(0, "127.0.0.1", listens));
    const model = new Model(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
    return model;
  }

  /** The body of an agent that asks it. */
  agent = (name: string, tools: string[] = []) => ({
    name,
    description: "For tests",
    model_provider: "openai",
    model_name: "gpt-test",
    base_url: this.url,
    system_prompt: "You help.",
    tools,
  });

  close = () => this.server.close();
}

async function tell(response: ServerResponse, { text = "", call, everyMs = 0 }: Said) {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  const send = (more: object) =>
    response.write(
      `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", model: "gpt-test", ...more })}\n\n`,
    );
  const choose = (delta: object, finish_reason: string | null = null) =>
    send({ choices: [{ index: 0, delta, finish_reason }] });
  choose({ role: "assistant", content: "" });
  for (const piece of pieces(text)) {
    choose({ content: piece });
    if (everyMs) await new Promise((go) => setTimeout(go, everyMs));
  }
  if (call) {
    const { name, arguments: args } = call;
    choose({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name, arguments: "" } }] });
    choose({ tool_calls: [{ index: 0, function: { arguments: JSON.stringify(args) } }] });
  }
  choose({}, call ? "tool_calls" : "stop");
  send({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
  response.end("data: [DONE]\n\n");
}
