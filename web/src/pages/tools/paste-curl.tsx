// A command line becomes a request. Loaded when somebody wants to paste one.

import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/button";
import { Field, TextArea } from "../../ui/field";
import { Dialog } from "../../ui/overlay";
import { messageOf } from "../../ui/states";
import { BadCurl, parseCurl, type Request } from "./curl";

export default function PasteCurl({ onClose, onTake }: { onClose: () => void; onTake: (request: Request) => void }) {
  const { t } = useTranslation("request");
  const [line, setLine] = useState("");
  const [wrong, setWrong] = useState<string>();
  const take = () => {
    try {
      onTake(parseCurl(line));
      onClose();
    } catch (error) {
      setWrong(error instanceof BadCurl ? t(`http.curl.${error.why}`) : messageOf(error));
    }
  };
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={t("http.pasteCurl")}
      about={t("http.pasteAbout")}
      footer={
        <Button look="primary" disabled={!line.trim()} onClick={take}>
          {t("http.take")}
        </Button>
      }
    >
      <Field label={t("http.curlLine")} problem={wrong}>
        {(told) => (
          <TextArea
            {...told}
            rows={8}
            className="font-mono"
            spellCheck={false}
            value={line}
            onChange={(event) => setLine(event.target.value)}
          />
        )}
      </Field>
    </Dialog>
  );
}
