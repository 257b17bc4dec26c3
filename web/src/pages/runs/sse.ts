// Server-sent events out of a fetch: the browser's own reader can neither log in again nor say how a request was refused.

export type Told = { id: string | null; event: string; data: string };

/** Takes text as it comes, cut anywhere, and hands on every event that is whole. */
export function eventReader(tell: (event: Told) => void): (text: string) => void {
  let rest = "";
  let now: Told = { id: null, event: "message", data: "" };
  const line = (text: string) => {
    if (text === "") {
      if (now.data !== "") tell({ ...now, data: now.data.slice(0, -1) });
      now = { id: null, event: "message", data: "" };
      return;
    }
    const colon = text.indexOf(":");
    // A line that begins with a colon is a sign of life.
    if (colon === 0) return;
    const name = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
    if (name === "data") now.data += `${value}\n`;
    else if (name === "event") now.event = value;
    else if (name === "id") now.id = value;
  };
  return (text) => {
    rest += text;
    for (;;) {
      const end = /\r\n|\n|\r(?!$)/.exec(rest);
      if (!end) return;
      line(rest.slice(0, end.index));
      rest = rest.slice(end.index + end[0].length);
    }
  };
}

/** Reads a body to its end. Letters that are cut in the middle of their bytes are put together. */
export async function readEvents(body: ReadableStream<Uint8Array>, tell: (event: Told) => void): Promise<void> {
  const read = eventReader(tell);
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return read(decoder.decode());
    read(decoder.decode(value, { stream: true }));
  }
}
