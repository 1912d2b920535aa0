/** Hooks belong to projects, to groups and to the instance itself. */
import { child } from '../../../api/endpoint.ts'
import { instance, managedPolicy, scope, type ResourceScope } from '../../../api/resource-scopes.ts'
import { id } from '../../../api/wire.ts'
import { administeredProject, ownedGroup, type IntegrationSubject } from '../scopes.ts'
import type { HookKind } from './model.ts'
import { findHook } from './queries.ts'

const wholeInstance = scope({
  kind: 'instance',
  path: '',
  on: instance,
  policy: managedPolicy,
  abilityFirst: true,
  to: (): IntegrationSubject => ({ at: { project_id: null, group_id: null }, managed: true }),
})

function hookScope<Kind extends HookKind, Path extends '' | `/${string}`>(
  { kind, path, resource }: ResourceScope<IntegrationSubject, typeof managedPolicy, Kind, Path>,
  allow: 'manage' | 'administrator',
) {
  const hook = child(resource, {
    key: 'hook',
    params: { hook_id: id },
    find: (app, { at }, { hook_id }) => findHook(app.db, at, hook_id),
  })
  /** For summaries such as `a hook of …`. */
  const of = kind === 'instance' ? 'the instance' : `a ${kind}`
  return { kind, path: `${path}/hooks` as const, of, allow, resource, hook }
}

const projectHooks = hookScope(administeredProject, 'manage')
const groupHooks = hookScope(ownedGroup, 'manage')
export const instanceHooks = hookScope(wholeInstance, 'administrator')

export const projectAndGroupHooks = [projectHooks, groupHooks] as const
export const hookScopes = [projectHooks, groupHooks, instanceHooks] as const
export type AnyHookScope = (typeof hookScopes)[number]
