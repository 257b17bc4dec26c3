// Text that is there to be taken away.

import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { IconButton } from "./button";
import { copyText } from "./copy-text";

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const { t } = useTranslation();
  const [done, setDone] = useState(false);
  const copy = async () => {
    if (!(await copyText(text))) return;
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <IconButton small icon={done ? Check : Copy} label={done ? t("copied") : (label ?? t("copy"))} onClick={copy} />
  );
}

export function CopyBlock({ label, text }: { label: string; text: string }) {
  return (
    <div className="min-w-0 rounded-md border bg-sunken">
      <div className="flex items-center border-b px-3 py-1">
        <span className="grow text-sm text-muted">{label}</span>
        <CopyButton text={text} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys */}
      <pre tabIndex={0} className="overflow-x-auto p-3 text-sm whitespace-pre">
        {text}
      </pre>
    </div>
  );
}
