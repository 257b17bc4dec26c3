// Events are the same wherever the network cuts them.

import { expect, test } from "vitest";
import { eventReader, readEvents, type Told } from "./sse";

const STREAM = [
  ": \n\n",
  'id: 2\nevent: plan\ndata: {"tools":["계산기"]}\n\n',
  'id: 5.6\nevent: text_delta\ndata: {"text":"42\ndata: .5"}\r\n\r\n',
  "event: progress\ndata: half\n\n",
  "id: 9\nevent: cut off",
].join("");

const EXPECTED: Told[] = [
  { id: "2", event: "plan", data: '{"tools":["계산기"]}' },
  { id: "5.6", event: "text_delta", data: '{"text":"42\n.5"}' },
  { id: null, event: "progress", data: "half" },
];

test("cut after every letter", () => {
  for (let at = 0; at <= STREAM.length; at += 1) {
    const told: Told[] = [];
    const read = eventReader((event) => told.push(event));
    read(STREAM.slice(0, at));
    read(STREAM.slice(at));
    expect(told, `cut at ${at}`).toEqual(EXPECTED);
  }
});

test("cut in the middle of a letter's bytes", async () => {
  const bytes = new TextEncoder().encode(STREAM);
  const told: Told[] = [];
  const body = new ReadableStream<Uint8Array>({
    start(out) {
      for (const byte of bytes) out.enqueue(new Uint8Array([byte]));
      out.close();
    },
  });
  await readEvents(body, (event) => told.push(event));
  expect(told).toEqual(EXPECTED);
});
