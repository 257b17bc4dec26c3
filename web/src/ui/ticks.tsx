// A sentence of the server with names in backticks: those are set as names.

export function Ticks({ text }: { text: string }) {
  return text.split(/`([^`\n]+)`/).map((part, at) =>
    at % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
      <code key={at} className="font-mono text-[0.95em] font-medium">
        {part}
      </code>
    ) : (
      part
    ),
  );
}
