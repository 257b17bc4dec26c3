// A text with a name in it, looked up once for a whole list: in every row, with another name each, it would be dear.

const HOLE = "\u0000";

export function withName(text: (name: string) => string): (name: string) => string {
  const parts = text(HOLE).split(HOLE);
  return (name) => parts.join(name);
}
