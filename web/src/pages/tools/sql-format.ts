// A query in the form that people read most easily. Loaded when somebody asks for it.

import { formatDialect, postgresql, sqlite } from "sql-formatter";
import { IN_NAME } from "./sql-parameters";

export const formatSql = (query: string, dialect: "sqlite" | "postgres"): string =>
  formatDialect(query, {
    dialect: dialect === "postgres" ? postgresql : sqlite,
    keywordCase: "upper",
    paramTypes: { named: [":"], custom: [{ regex: String.raw`\{\{\s*${IN_NAME}+\s*\}\}` }] },
  });
