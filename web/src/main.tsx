// Where the page begins: texts first, then the router.

import "./theme.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { startTexts } from "./i18n";
import { nonce } from "./nonce";
import { queries } from "./queries";
import { router } from "./routes";
import { noteMissing } from "./stale";
import { followSystem } from "./theme";
import { TipProvider } from "./ui/tip";

noteMissing();
followSystem();
// What locks the page's scrolling behind a dialog brings a style of its own.
setNonce(nonce());

// Who is there and the page they want come while the texts do, not after them.
void router.load();

startTexts().then(() => {
  createRoot(document.getElementById("root") as HTMLElement).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <TipProvider>
          <RouterProvider router={router} />
        </TipProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
});
