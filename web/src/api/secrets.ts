// The secrets that are stored: their names, never their values.

import { queryOptions } from "@tanstack/react-query";
import { api, every, got } from "./client";

export const secretsQuery = queryOptions({
  queryKey: ["secrets"],
  queryFn: () => every((cursor) => got(api.GET("/api/v1/secrets", { params: { query: { limit: 500, cursor } } }))),
});
