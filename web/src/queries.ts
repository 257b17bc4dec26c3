// What was asked of the server, kept while it is looked at.

import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api/errors";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal stays one; only what may be a bad moment is asked again.
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
});
