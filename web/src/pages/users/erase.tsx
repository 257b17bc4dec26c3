// A person's data is erased for good: first what that would be, then the name typed, then the deed.

import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { ErasureView, UserView } from "../../api/schema";
import { Button } from "../../ui/button";
import { Facts } from "../../ui/facts";
import { TextField } from "../../ui/field";
import { Note } from "../../ui/note";
import { Dialog } from "../../ui/overlay";
import { Failed } from "../../ui/states";
import { Heir } from "./forms";
import { erase, useUserChange } from "./queries";

function What({ found }: { found: ErasureView }) {
  const { t } = useTranslation("users");
  return (
    <div role="status" className="grid gap-2 rounded-md border p-3">
      <Facts
        facts={[
          [t("erase.pseudonym"), <code key="p">{found.pseudonym}</code>],
          [t("erase.executions"), String(found.executions)],
          ...Object.entries(found.rows).map(([table, rows]): [string, string] => [table, String(rows)]),
        ]}
      />
      {found.servers_left > 0 && <Note tone="warn">{t("erase.serversLeft", { count: found.servers_left })}</Note>}
    </div>
  );
}

export function EraseUser({ user, all, onClose }: { user: UserView; all: UserView[]; onClose: () => void }) {
  const { t } = useTranslation(["users", "frame"]);
  const [to, setTo] = useState("");
  const [typed, setTyped] = useState("");
  const look = useUserChange(erase);
  const act = useUserChange(erase);
  const found = look.data;
  if (act.data) {
    return (
      <Dialog open onClose={onClose} title={t("erase.done", { name: user.name })}>
        <div className="grid gap-3">
          <What found={act.data} />
          <p className="text-sm text-muted">{t("erase.backups")}</p>
          <div className="flex justify-end">
            <Button look="primary" onClick={onClose}>
              {t("frame:close")}
            </Button>
          </div>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog open onClose={onClose} title={t("erase.title", { name: user.name })} about={t("erase.about")}>
      <div className="grid gap-4">
        <Heir
          {...{ user, all }}
          isOptional
          value={to}
          onChange={(name) => {
            setTo(name);
            look.reset();
          }}
        />
        {(look.error ?? act.error) && <Failed error={look.error ?? act.error} />}
        {found && (
          <>
            <p className="font-medium">{t("erase.would")}</p>
            <What found={found} />
            <TextField
              label={t("frame:typeToConfirm", { name: user.name })}
              value={typed}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setTyped(event.target.value)}
            />
          </>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("frame:cancel")}</Button>
          {found ? (
            <Button
              look="danger"
              busy={act.isPending}
              disabled={typed !== user.name}
              onClick={() => act.mutate({ name: user.name, to, dryRun: false })}
            >
              {t("erase.open")}
            </Button>
          ) : (
            <Button
              look="primary"
              busy={look.isPending}
              onClick={() => look.mutate({ name: user.name, to, dryRun: true })}
            >
              {t("erase.look")}
            </Button>
          )}
        </div>
      </div>
    </Dialog>
  );
}
