/** Services belong to projects, under an older and a newer path, and to groups. */
import { UNKNOWN_ROUTE } from '../../../api/answers.ts'
import { child } from '../../../api/endpoint.ts'
import type { managedPolicy, ResourceScope } from '../../../api/resource-scopes.ts'
import { text } from '../../../api/wire.ts'
import { Refusal } from '../../../errors.ts'
import { administeredProject, ownedGroup, type IntegrationSubject } from '../scopes.ts'
import type { Service } from './declare.ts'
import { effectiveServices, type Effective } from './queries.ts'
import { serviceOf } from './registry.ts'

export interface ServiceAtScope {
  readonly declared: Service
  /** Null: configured neither here nor in a group above. */
  readonly effective: Effective | null
}

/** The older path answers as it always did. */
type Era = 'services' | 'integrations'

function serviceScope<Kind extends string, Path extends `/${string}`>(
  { kind, path, resource }: ResourceScope<IntegrationSubject, typeof managedPolicy, Kind, Path>,
  era: Era,
) {
  /** Found if the service is declared, configured or not. */
  const serviceOr = (missing: () => Refusal) =>
    child(resource, {
      key: 'service',
      params: { slug: text },
      async find(app, { at }, { slug }): Promise<ServiceAtScope> {
        const declared = serviceOf(slug)
        if (!declared) throw missing()
        const services = await effectiveServices(app.db, at)
        return { declared, effective: services.get(declared.slug) ?? null }
      },
    })
  const parameter = era === 'services' ? 'service_slug' : 'slug'
  return {
    kind,
    era,
    path: `${path}/${era}` as const,
    resource,
    service: serviceOr(() => new Refusal('bad_request', `${parameter} does not have a valid value`, { as: 'error' })),
    /** For changes, each service has a route of its own, and an unknown slug has no route. */
    changedService: serviceOr(() => new Refusal('not_found', undefined, { body: UNKNOWN_ROUTE })),
  }
}

export const projectServices = serviceScope(administeredProject, 'integrations')

export const serviceScopes = [
  projectServices,
  serviceScope(administeredProject, 'services'),
  serviceScope(ownedGroup, 'integrations'),
] as const
export type AnyServiceScope = (typeof serviceScopes)[number]
