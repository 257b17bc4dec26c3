// Where one types: Enter sends, also in the middle of a Korean syllable, and Stop is always there.

import { Send, Square } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/button";
import { TextArea } from "../../ui/field";
import { useSendOnEnter } from "../../ui/send-on-enter";

type Props = {
  isBusy: boolean;
  isWaiting: boolean;
  isStopping: boolean;
  onSend: (text: string) => void;
  onStop: () => void;
};

export function Composer({ isBusy, isWaiting, isStopping, onSend, onStop }: Props) {
  const { t } = useTranslation("playground");
  const box = useRef<HTMLTextAreaElement>(null);
  const [isEmpty, setEmpty] = useState(true);
  // The field itself holds the text: what is still being composed is not React's to write over.
  const send = () => {
    const text = box.current?.value.trim();
    if (!text || isBusy || !box.current) return;
    box.current.value = "";
    setEmpty(true);
    onSend(text);
  };
  const keys = useSendOnEnter(send);
  return (
    <div className="border-t bg-bg pt-3 pb-3">
      <div className="flex items-end gap-2">
        <TextArea
          ref={box}
          rows={2}
          aria-label={t("message")}
          aria-describedby="composer-hint"
          placeholder={t("placeholder")}
          className="max-h-48 resize-none [field-sizing:content]"
          onChange={(event) => setEmpty(event.target.value.trim() === "")}
          {...keys}
        />
        <div className="flex flex-col gap-1.5">
          <Button icon={Square} disabled={!isBusy} busy={isStopping} onClick={onStop}>
            {t("stop")}
          </Button>
          <Button look="primary" icon={Send} disabled={isBusy || isEmpty} onClick={send}>
            {t("send")}
          </Button>
        </div>
      </div>
      <p id="composer-hint" className="mt-1 text-xs text-muted">
        {isWaiting ? t("waits") : t("hint")}
      </p>
    </div>
  );
}
