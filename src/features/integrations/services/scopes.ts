/**
 * Services belong to projects, under an older and a newer path, and to groups. Each endpoint is declared once for all.
 */
import { z } from 'zod'
import { UNKNOWN_ROUTE } from '../../../api/answers.ts'
import { child, policy, resource, type Policy, type Resource } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { group } from '../../groups/groups/queries.ts'
import { project } from '../../projects/projects/queries.ts'
import type { Service } from './declare.ts'
import { effectiveServices, type Effective, type ServiceScope } from './queries.ts'
import { serviceOf } from './registry.ts'

interface ScopeSubject {
  readonly place: ServiceScope
  readonly managed: boolean
  readonly isReadOnly: boolean
}

const scopePolicy = policy<ScopeSubject>()({
  /** `find` already returns null if the viewer may not read the scope. */
  read: () => true,
  manage: (s) => s.managed,
})

export interface ServiceAtScope {
  readonly declared: Service
  /** Null: configured neither here nor in a group above. */
  readonly effective: Effective | null
}

interface ScopePlan<S, P extends Policy<S>> {
  kind: 'project' | 'group'
  /** The older path answers as it always did. */
  era: 'services' | 'integrations'
  on: Resource<S, P>
  manage: keyof P & string
  placeOf(subject: S): ServiceScope
}

function scope<S, P extends Policy<S>>({ kind, era, on, manage, placeOf }: ScopePlan<S, P>) {
  async function find(app: App, params: { id: string }, viewer: User | null): Promise<ScopeSubject | null> {
    const subject = await on.find(app, params as never, viewer)
    if (!subject || !on.policy.read(subject)) return null
    const isReadOnly = on.isReadOnly?.(subject) ?? false
    return { place: placeOf(subject), managed: on.policy[manage]!(subject), isReadOnly }
  }
  const scopeSubject = resource({
    name: on.name!,
    params: z.object({ id: text }),
    policy: scopePolicy,
    abilityFirst: true,
    isReadOnly: (s) => s.isReadOnly,
    find,
  })
  /** Found if the service is declared, configured or not. */
  const serviceOr = (missing: () => Refusal) =>
    child(scopeSubject, {
      key: 'service',
      params: { slug: text },
      async find(app, { place: scopeSubject }, { slug }): Promise<ServiceAtScope> {
        const declared = serviceOf(slug)
        if (!declared) throw missing()
        const services = await effectiveServices(app.db, scopeSubject)
        return { declared, effective: services.get(declared.slug) ?? null }
      },
    })
  const parameter = era === 'services' ? 'service_slug' : 'slug'
  return {
    kind,
    era,
    path: `/${kind}s/:id/${era}` as const,
    place: scopeSubject,
    service: serviceOr(() => new Refusal('bad_request', `${parameter} does not have a valid value`, { as: 'error' })),
    /** For changes, each service has a route of its own, and an unknown slug has no route. */
    changedService: serviceOr(() => new Refusal('not_found', undefined, { body: UNKNOWN_ROUTE })),
  }
}

export type Scope = ReturnType<typeof scope>

const ofProject = (era: Scope['era']): Scope =>
  scope({
    kind: 'project',
    era,
    on: project,
    manage: 'administer',
    placeOf: ({ project }) => ({ project_id: project.id, group_id: null }),
  })

export const projectScope: Scope = ofProject('integrations')
export const olderProjectScope: Scope = ofProject('services')
export const groupScope: Scope = scope({
  kind: 'group',
  era: 'integrations',
  on: group,
  manage: 'own',
  placeOf: ({ group }) => ({ project_id: null, group_id: group.id }),
})
