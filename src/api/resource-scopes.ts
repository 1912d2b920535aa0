/**
 * Records of one kind belong to projects, groups, users or the instance. A family declares each endpoint once and names
 * the scopes where it is served:
 *
 *     export const [list, listOfGroup] = atScopes([projectScope, groupScope], (scope) =>
 *       endpoint({ path: `${scope.path}/labels`, on: scope.resource, … }))
 */
import { z } from 'zod'
import type { App, User } from '../context.ts'
import { publicPolicy, resource, type Endpoint, type Policy, type Resource } from './endpoint.ts'

/** Rows name their scope by these. At most one is given; neither for the instance. */
export interface ScopeColumns {
  readonly project_id: number | null
  readonly group_id: number | null
}

/** What a family knows of a scope, together with what the kit adds. */
export type Scoped<T> = T & {
  /** No changes are accepted, as in an archived project. */
  readonly isReadOnly: boolean
}

export interface ResourceScope<T, Q extends Policy<Scoped<T>>, Kind extends string, Path extends string> {
  /** For summaries. */
  readonly kind: Kind
  /** Paths of endpoints begin with it. */
  readonly path: Path
  /** What lists and creation act on, and the parent of each record. */
  readonly resource: Resource<Scoped<T>, Q>
}

interface ScopePlan<S, P extends Policy<S>, T, Q, Kind, Path> {
  kind: Kind
  path: Path
  /** What the scope is made of: found, hidden and read-only as this is. */
  on: Resource<S, P>
  policy: Q & { readonly read: (subject: Scoped<NoInfer<T>>) => boolean }
  abilityFirst?: boolean
  /** The subject that endpoints of the scope get. */
  to(subject: S): T
}

/** A scope with a subject and abilities of its own, made of another resource. */
export function scope<
  S,
  P extends Policy<S>,
  Q extends Policy<Scoped<T>>,
  const Kind extends string,
  const Path extends string,
  T = never, // until `to` has been looked at, which is after the policy
>({
  kind,
  path,
  on,
  policy,
  abilityFirst = false,
  to,
}: ScopePlan<S, P, T, Q, Kind, Path>): ResourceScope<T, Q, Kind, Path> {
  async function find(app: App, params: never, viewer: User | null, parent?: never): Promise<Scoped<T> | null> {
    const subject = await on.find(app, params, viewer, parent)
    if (subject === null || subject === undefined || !on.policy.read(subject)) return null
    return { ...to(subject), isReadOnly: on.isReadOnly?.(subject) ?? false }
  }
  return { kind, path, resource: { ...on, policy, abilityFirst, isReadOnly: (s) => s.isReadOnly, find } }
}

/** An endpoint at each of the scopes, in their order. */
export const atScopes = <const Scopes extends readonly unknown[]>(
  scopes: Scopes,
  declare: (scope: Scopes[number]) => Endpoint,
) => scopes.map((scope) => declare(scope)) as { readonly [index in keyof Scopes]: Endpoint }

/** The instance itself, which is always there. */
export const instance = resource({
  params: z.object({}),
  policy: publicPolicy,
  find: async (_app, _params, viewer) => ({ viewer }),
})

/** For scopes that some callers manage and all others only find. */
export interface ManagedScope {
  readonly managed: boolean
}

export const managedPolicy = {
  /** A scope that the caller may not read is not found in the first place. */
  read: () => true,
  manage: (s: ManagedScope) => s.managed,
}
