// What stands above the page: a dialog in the middle, a drawer at the side, a question before something is destroyed.

import clsx from "clsx";
import { X } from "lucide-react";
import { AlertDialog, Dialog as Radix } from "radix-ui";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "./button";
import { TextField } from "./field";
import { atContent, atFirstField, useOpener } from "./opener";
import { Failed } from "./states";

type Props = {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  /** Read out behind the title. */
  about?: ReactNode;
  children: ReactNode;
  footer?: ReactNode;
  wide?: boolean;
};

const stay = (event: { preventDefault: () => void }) => event.preventDefault();
const held = { onInteractOutside: stay, onEscapeKeyDown: stay };

const shade = "fixed inset-0 z-40 bg-black/40";

function Head({
  title,
  about,
  onClose,
  actions,
}: Pick<Props, "title" | "about" | "onClose"> & { actions?: ReactNode }) {
  const { t } = useTranslation();
  return (
    <div className="flex items-start gap-2 border-b px-4 py-3">
      <div className="min-w-0 grow">
        <Radix.Title className="text-base font-semibold">{title}</Radix.Title>
        {about && <Radix.Description className="text-sm text-muted">{about}</Radix.Description>}
      </div>
      {actions}
      <IconButton icon={X} label={t("close")} small onClick={onClose} />
    </div>
  );
}

/** `firm`: it goes by its buttons only, for what cannot be shown again. */
export function Dialog({ open, onClose, title, about, children, footer, wide, firm }: Props & { firm?: boolean }) {
  const opener = useOpener(atFirstField);
  return (
    <Radix.Root open={open} onOpenChange={(now) => !now && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={shade} />
        <Radix.Content
          {...opener}
          {...(about ? {} : { "aria-describedby": undefined })}
          {...(firm ? held : {})}
          className={clsx(
            "fixed top-1/2 left-1/2 z-50 flex max-h-[88vh] outline-none w-[calc(100vw-1.5rem)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-lg border bg-raised shadow-raised",
            wide ? "max-w-3xl" : "max-w-lg",
          )}
        >
          <Head {...{ title, about, onClose }} />
          <div className="grow overflow-y-auto p-4">{children}</div>
          {footer && <div className="flex justify-end gap-2 border-t px-4 py-3">{footer}</div>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Keeps the page beside it in sight. `actions` stand beside the title; `firm` as a dialog is. */
export function Drawer({
  open,
  onClose,
  title,
  about,
  children,
  footer,
  actions,
  wide,
  firm,
}: Props & { actions?: ReactNode; firm?: boolean }) {
  const opener = useOpener(atContent);
  return (
    <Radix.Root open={open} onOpenChange={(now) => !now && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={shade} />
        <Radix.Content
          {...opener}
          {...(about ? {} : { "aria-describedby": undefined })}
          {...(firm ? held : {})}
          className={clsx(
            "fixed inset-y-0 right-0 z-50 flex w-full flex-col border-l bg-raised shadow-raised outline-none",
            wide ? "max-w-4xl" : "max-w-[35rem]",
          )}
        >
          <Head {...{ title, about, onClose, actions }} />
          <div className="grow overflow-y-auto p-4">{children}</div>
          {footer && <div className="flex flex-wrap justify-end gap-2 border-t px-4 py-3">{footer}</div>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

type ConfirmProps = {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  action: string;
  onConfirm: () => Promise<unknown> | unknown;
  /** What has to be typed first, for what cannot be undone. */
  typed?: string;
};

/** Where what is confirmed fails, it says so and stays. */
export function Confirm({ open, onClose, title, children, action, onConfirm, typed }: ConfirmProps) {
  const { t } = useTranslation();
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const close = () => {
    setFailure(undefined);
    onClose();
  };
  const opener = useOpener();
  const confirm = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
      setText("");
    }
  };
  return (
    <AlertDialog.Root open={open} onOpenChange={(now) => !now && close()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={shade} />
        <AlertDialog.Content
          {...opener}
          className="fixed top-1/2 left-1/2 z-50 grid w-[calc(100vw-1.5rem)] max-w-md -translate-x-1/2 -translate-y-1/2 gap-3 rounded-lg border bg-raised p-4 shadow-raised"
        >
          <AlertDialog.Title className="text-base font-semibold">{title}</AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className="text-base text-muted">{children}</div>
          </AlertDialog.Description>
          {typed && (
            <TextField
              label={t("typeToConfirm", { name: typed })}
              value={text}
              onChange={(e) => setText(e.target.value)}
              autoComplete="off"
            />
          )}
          {failure !== undefined && <Failed error={failure} />}
          <div className="flex justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>{t("cancel")}</Button>
            </AlertDialog.Cancel>
            <Button look="danger" busy={busy} disabled={typed !== undefined && text !== typed} onClick={confirm}>
              {action}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
