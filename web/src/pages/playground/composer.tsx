// Where one types: Enter sends, also in the middle of a Korean syllable, and Stop is always there.

import { Send, Square } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/button";
import { TextArea } from "../../ui/field";
import { useSendOnEnter } from "../../ui/send-on-enter";
import { COMPOSER } from "../runs/ask";

type Props = {
  isBusy: boolean;
  isWaiting: boolean;
  /** What it asks can be answered here. */
  isAnswer?: boolean;
  /** Why what was typed is no answer. */
  problem?: string;
  isStopping: boolean;
  /** Fails where the message was not taken. */
  onSend: (text: string) => Promise<unknown>;
  onStop: () => void;
};

// What is written and not sent yet stays in this browser.
const KEPT = "toolcrib.message";

export function Composer({ isBusy, isWaiting, isAnswer, problem, isStopping, onSend, onStop }: Props) {
  const { t } = useTranslation("playground");
  const box = useRef<HTMLTextAreaElement>(null);
  const [begun] = useState(() => localStorage.getItem(KEPT) ?? "");
  const [isEmpty, setEmpty] = useState(begun.trim() === "");
  const write = (text: string) => {
    if (text.trim()) localStorage.setItem(KEPT, text);
    else localStorage.removeItem(KEPT);
    setEmpty(text.trim() === "");
  };
  // The field itself holds the text: what is still being composed is not React's to write over.
  const send = async () => {
    const text = box.current?.value.trim();
    if (!text || (isBusy && !isAnswer) || !box.current) return;
    box.current.value = "";
    setEmpty(true);
    try {
      await onSend(text);
      write(box.current?.value ?? "");
    } catch {
      // The page says why. The message is here again, before what was written meanwhile.
      const both = [text, box.current?.value].filter(Boolean).join("\n");
      if (box.current) box.current.value = both;
      write(both);
    }
  };
  const keys = useSendOnEnter(() => void send());
  return (
    <div className="border-t bg-bg pt-3 pb-3">
      <div className="flex items-end gap-2">
        <TextArea
          ref={box}
          id={COMPOSER}
          rows={2}
          aria-label={t("message")}
          aria-describedby="composer-hint"
          placeholder={t(isAnswer ? "answerHere" : "placeholder")}
          aria-invalid={problem ? true : undefined}
          className="max-h-48 resize-none [field-sizing:content]"
          defaultValue={begun}
          onChange={(event) => write(event.target.value)}
          {...keys}
        />
        <div className="flex flex-col gap-1.5">
          <Button icon={Square} disabled={!isBusy} busy={isStopping} onClick={onStop}>
            {t("stop")}
          </Button>
          <Button look="primary" icon={Send} disabled={(isBusy && !isAnswer) || isEmpty} onClick={() => void send()}>
            {t(isAnswer ? "answer" : "send")}
          </Button>
        </div>
      </div>
      <p id="composer-hint" className={`mt-1 text-xs ${problem ? "text-danger" : "text-muted"}`}>
        {problem ?? t(isAnswer ? "waitsHere" : isWaiting ? "waits" : "hint")}
      </p>
    </div>
  );
}
