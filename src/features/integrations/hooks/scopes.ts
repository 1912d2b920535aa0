/** Hooks belong to projects, groups and the instance. An endpoint is declared once and mounted in each scope. */
import { z } from 'zod'
import { child, policy, resource, type Endpoint, type Policy, type Resource } from '../../../api/endpoint.ts'
import { id, text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { group } from '../../groups/groups/queries.ts'
import { project } from '../../projects/projects/queries.ts'
import type { HookScope } from './listening.ts'
import type { HookKind } from './model.ts'
import { findHook } from './queries.ts'

export interface HookScopeSubject {
  readonly at: HookScope
  readonly managed: boolean
  readonly isReadOnly: boolean
}

const scopePolicy = policy<HookScopeSubject>()({
  /** `find` already returns null if the viewer may not read the scope. */
  read: () => true,
  manage: (s) => s.managed,
})

interface ScopePlan {
  readonly kind: HookKind
  readonly path: '/projects/:id/hooks' | '/groups/:id/hooks' | '/hooks'
  readonly allow: 'manage' | 'administrator'
  /** For summaries such as `a hook of …`. */
  readonly of: string
  readonly place: Resource<HookScopeSubject, typeof scopePolicy>
}

const scope = (plan: ScopePlan) => ({
  ...plan,
  hook: child(plan.place, {
    key: 'hook',
    params: { hook_id: id },
    find: (app, { at }, { hook_id }) => findHook(app.db, at, hook_id),
  }),
})

export type Scope = ReturnType<typeof scope>

/** Hides the hooks of a scope from users who may not administer it. */
function placeIn<S, P extends Policy<S>>(on: Resource<S, P>, manage: keyof P & string, at: (subject: S) => HookScope) {
  async function find(app: App, params: { id: string }, viewer: User | null): Promise<HookScopeSubject | null> {
    const subject = await on.find(app, params as never, viewer)
    if (!subject || !on.policy.read(subject)) return null
    const isReadOnly = on.isReadOnly?.(subject) ?? false
    return { at: at(subject), managed: on.policy[manage]!(subject), isReadOnly }
  }
  return resource({
    name: on.name!,
    params: z.object({ id: text }),
    policy: scopePolicy,
    abilityFirst: true,
    isReadOnly: (s) => s.isReadOnly,
    find,
  })
}

const projectScope = scope({
  kind: 'project',
  path: '/projects/:id/hooks',
  allow: 'manage',
  of: 'a project',
  place: placeIn(project, 'administer', ({ project: { id } }) => ({ project_id: id, group_id: null })),
})

const groupScope = scope({
  kind: 'group',
  path: '/groups/:id/hooks',
  allow: 'manage',
  of: 'a group',
  place: placeIn(group, 'own', ({ group: { id } }) => ({ project_id: null, group_id: id })),
})

const instanceScope = scope({
  kind: 'instance',
  path: '/hooks',
  allow: 'administrator',
  of: 'the instance',
  place: resource({
    params: z.object({}),
    policy: scopePolicy,
    abilityFirst: true,
    find: async (): Promise<HookScopeSubject> => ({
      at: { project_id: null, group_id: null },
      managed: true,
      isReadOnly: false,
    }),
  }),
})

/** `export const [list, listOfGroup, listOfInstance] = atEachScope((scope) => endpoint({ path: scope.path, … }))` */
export const atEachScope = (declare: (scope: Scope) => Endpoint) =>
  [declare(projectScope), declare(groupScope), declare(instanceScope)] as const

export const atProjectsAndGroups = (declare: (scope: Scope) => Endpoint) =>
  [declare(projectScope), declare(groupScope)] as const

export const atInstance = (declare: (scope: Scope) => Endpoint) => declare(instanceScope)
