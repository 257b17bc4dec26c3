// Runs that somebody has to answer before they go on.

import { queryOptions } from "@tanstack/react-query";
import { api, got } from "./client";

export const waitingRunsQuery = queryOptions({
  queryKey: ["runs", "waiting"],
  queryFn: ({ signal }) =>
    got(api.GET("/api/v1/runs", { params: { query: { status: "needs_input", limit: 50 } }, signal })),
  refetchInterval: 10_000,
});
