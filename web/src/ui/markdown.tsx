// Text with Markdown as a model writes it. Loaded when the first is shown; raw HTML in it stays text.

import type { ReactNode } from "react";
import ReactMarkdown from "react-markdown";

const components = {
  a: ({ href, children }: { href?: string; children?: ReactNode }) => (
    <a href={href} target="_blank" rel="noreferrer noopener" className="text-accent-text underline">
      {children}
    </a>
  ),
  pre: ({ children }: { children?: ReactNode }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys
    <pre tabIndex={0} className="overflow-x-auto rounded-md border bg-sunken p-3 text-sm">
      {children}
    </pre>
  ),
  // An image would be fetched from wherever a tool's result says.
  img: ({ alt, src }: { alt?: string; src?: string | Blob }) => (
    <span className="text-muted">[{alt || String(src)}]</span>
  ),
};

export default function Markdown({ text }: { text: string }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2 [&_p]:whitespace-pre-line [&_h1]:text-lg [&_h1]:font-semibold [&_h2]:font-semibold [&_h3]:font-semibold [&_ol]:list-decimal [&_ol]:pl-6 [&_ul]:list-disc [&_ul]:pl-6">
      <ReactMarkdown components={components}>{text}</ReactMarkdown>
    </div>
  );
}
