// What is asked of whoever leaves with something that is not saved. Loaded when somebody does.

import { useTranslation } from "react-i18next";
import { Button } from "./button";
import { Dialog } from "./overlay";

type Props = { onStay: () => void; onKeep: () => void; onDiscard: () => void };

export default function LeavingDialog({ onStay, onKeep, onDiscard }: Props) {
  const { t } = useTranslation();
  return (
    <Dialog
      open
      onClose={onStay}
      title={t("leave.title")}
      about={t("leave.about")}
      footer={
        <>
          <Button onClick={onStay}>{t("leave.stay")}</Button>
          <Button look="danger" onClick={onDiscard}>
            {t("leave.discard")}
          </Button>
          <Button look="primary" onClick={onKeep}>
            {t("leave.keep")}
          </Button>
        </>
      }
    >
      <p>{t("leave.more")}</p>
    </Dialog>
  );
}
