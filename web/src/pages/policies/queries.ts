// What the page about the policy asks the server, and what it changes there.

import { queryOptions } from "@tanstack/react-query";
import { api, every, got } from "../../api/client";
import type { DryRun, PolicyView, RuleText } from "../../api/schema";

export const SUBJECTS = ["everyone", "role", "user", "key", "agent", "toolset"] as const;
export type Subject = (typeof SUBJECTS)[number];
export const ROLES = ["viewer", "operator", "author", "admin"] as const;

export type Policy = Pick<PolicyView, "rules" | "version" | "whitelist">;

export const policyQuery = queryOptions({
  queryKey: ["policy"],
  queryFn: () => got(api.GET("/api/v1/policy")),
});

const body = ({ rules, version, whitelist }: Policy) => ({ rules, version, whitelist });

export const tryOut = async (policy: Policy): Promise<DryRun> =>
  (await got(api.PUT("/api/v1/policy", { params: { query: { dry_run: true } }, body: body(policy) }))) as DryRun;

export const save = async (policy: Policy): Promise<PolicyView> =>
  (await got(api.PUT("/api/v1/policy", { body: body(policy) }))) as PolicyView;

export type Question = { tool: string; user?: string; key?: string; agent?: string; toolset?: string };

export const explainQuery = (question: Question) =>
  queryOptions({
    queryKey: ["policy", "explain", question],
    queryFn: () => got(api.GET("/api/v1/policy/explain", { params: { query: question } })),
    enabled: !!question.tool,
    placeholderData: (before) => before,
  });

/** Whom rules can be about, by what kind they are; what one may not see is not proposed. */
export const subjectsQuery = queryOptions({
  queryKey: ["policy", "subjects"],
  queryFn: async () => {
    const none = () => [];
    const users = every((cursor) => got(api.GET("/api/v1/users", { params: { query: { limit: 500, cursor } } }))).then(
      (all) => all.map((user) => user.name),
      none,
    );
    const keys = every((cursor) => got(api.GET("/api/v1/keys", { params: { query: { limit: 500, cursor } } }))).then(
      (all) =>
        all.filter((key) => !key.revoked_at).map((key) => ({ value: key.id, label: `${key.name} (${key.user})` })),
      none,
    );
    const agents = every((cursor) =>
      got(api.GET("/api/v1/agents", { params: { query: { limit: 500, cursor } } })),
    ).then((all) => all.map((agent) => agent.name), none);
    const toolsets = every((cursor) =>
      got(api.GET("/api/v1/toolsets", { params: { query: { limit: 500, cursor } } })),
    ).then((all) => all.map((set) => set.name), none);
    const [user, key, agent, toolset] = await Promise.all([users, keys, agents, toolsets]);
    return { everyone: [], role: [...ROLES], user, key, agent, toolset };
  },
  staleTime: 60_000,
});

/** A rule without what it does not say. */
export const tidy = (rule: RuleText): RuleText => ({
  subject: rule.subject,
  ...(rule.target && { target: rule.target }),
  ...(rule.allow && { allow: rule.allow }),
  ...(rule.deny?.length && { deny: rule.deny }),
  ...(rule.hide?.length && { hide: rule.hide }),
});
