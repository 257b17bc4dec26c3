// Code in the page, to read or to write. The editor itself comes only where one is shown.

import clsx from "clsx";
import { lazy, Suspense } from "react";
import { inputClass } from "./field";

export type CodeProps = {
  value: string;
  onChange?: (text: string) => void;
  language?: "json" | "expression" | "text";
  /** Read out as its name. */
  label: string;
  readOnly?: boolean;
  /** What is wrong, and where; lines and columns count from 1. */
  marks?: Mark[];
};

export type Mark = { line: number; column: number; message: string };

const CodeEditor = lazy(() => import("./code-editor"));

export function Code({ className, ...props }: CodeProps & { className?: string }) {
  return (
    <div className={clsx(inputClass, "min-h-20 overflow-hidden px-0!", className)}>
      <Suspense fallback={<pre className="p-2 text-sm">{props.value}</pre>}>
        <CodeEditor {...props} />
      </Suspense>
    </div>
  );
}
