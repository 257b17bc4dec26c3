// The question before something is run that writes. Loaded when it is asked.

import { useTranslation } from "react-i18next";
import { Confirm } from "../../ui/overlay";

export default function WritesDialog(props: { onClose: () => void; onConfirm: () => void }) {
  const { t } = useTranslation("tools");
  return (
    <Confirm open {...props} title={t("writes.title")} action={t("writes.run")}>
      {t("writes.about")}
    </Confirm>
  );
}
