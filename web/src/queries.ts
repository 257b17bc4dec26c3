// What was asked of the server, kept while it is looked at.

import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api/errors";
import { connection } from "./api/session";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal stays one; only what may be a bad moment is asked again.
      retry: (count, error) => count < 2 && !(error instanceof ApiError && error.status < 500),
    },
  },
});

// What could not be asked while the server was away is asked once it is back.
let wasReachable = true;
connection.subscribe(() => {
  const { reachable } = connection.current();
  if (reachable && !wasReachable) void queries.invalidateQueries();
  wasReachable = reachable;
});
