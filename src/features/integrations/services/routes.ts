import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { atScopes, type ScopeColumns } from '../../../api/resource-scopes.ts'
import { bool, entity } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import {
  KnownServiceEntity,
  ListedServiceEntity,
  ServiceEntity,
  presentKnownService,
  presentListedService,
  presentService,
} from './entity.ts'
import { SERVICE_SWITCHES, type ServiceSwitch } from './model.ts'
import { projectServices, serviceScopes, type AnyServiceScope, type ServiceAtScope } from './scopes.ts'
import { effectiveServices } from './queries.ts'
import { SERVICES } from './registry.ts'
import { configureService, disableService } from './service.ts'
import { testService } from './testing.ts'

const switches = Object.fromEntries(SERVICE_SWITCHES.map((name) => [name, bool.nullish()])) as Record<
  ServiceSwitch,
  z.ZodOptional<z.ZodNullable<typeof bool>>
>

/** Accepts any further property: the declaration of the service validates them. */
const request = z.looseObject({ active: bool.nullish(), use_inherited_settings: bool.nullish(), ...switches })

/** A service that was never configured exists only under the older path. */
function assertSet({ era }: AnyServiceScope, { effective }: ServiceAtScope): void {
  if (!effective && era === 'integrations') throw notFound('Integration')
}

async function presentNow(app: App, at: ScopeColumns, { declared }: ServiceAtScope) {
  const effective = (await effectiveServices(app.db, at)).get(declared.slug) ?? null
  return presentService(declared, effective)
}

export const listKnown = endpoint({
  method: 'GET',
  path: '/integrations',
  summary: 'List the available integrations with their fields',
  allow: 'signed_in',
  output: z.array(KnownServiceEntity),
  handle: async () => SERVICES.map(presentKnownService),
})

export const [list, listByOlderName, listOfGroup] = atScopes(serviceScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: scope.path,
    summary: `List the services of a ${scope.kind} that are active, its own and inherited ones`,
    on: scope.resource,
    allow: 'manage',
    output: z.array(ListedServiceEntity),
    async handle({ app, subject }) {
      const found = await effectiveServices(app.db, subject.at)
      return SERVICES.flatMap((service) => {
        const effective = found.get(service.slug)
        return effective?.row.active ? [presentListedService(service, effective)] : []
      })
    },
  }),
)

export const [get, getByOlderName, getOfGroup] = atScopes(serviceScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/:slug`,
    summary: `Get a service of a ${scope.kind}, without its secrets`,
    on: scope.service,
    allow: 'manage',
    output: ServiceEntity,
    async handle({ subject: { service } }) {
      assertSet(scope, service)
      return presentService(service.declared, service.effective)
    },
  }),
)

export const [update, updateByOlderName, updateOfGroup] = atScopes(serviceScopes, (scope) =>
  endpoint({
    method: 'PUT',
    path: `${scope.path}/:slug`,
    summary: `Set a service of a ${scope.kind} and switch it on`,
    on: scope.changedService,
    allow: 'manage',
    input: request,
    output: ServiceEntity,
    async handle({ app, subject: { at, service }, input }) {
      await configureService(app, at, service.declared, input, input)
      return presentNow(app, at, service)
    },
  }),
)

export const [destroy, destroyByOlderName, destroyOfGroup] = atScopes(serviceScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/:slug`,
    summary: `Disable an integration of a ${scope.kind}`,
    on: scope.service,
    allow: 'manage',
    changedAt: ({ service: { effective } }) => effective?.row.updated_at ?? new Date(0).toISOString(),
    output: null,
    async handle({ app, subject: { at, service } }) {
      assertSet(scope, service)
      if (service.effective) await disableService(app, at, service.declared)
    },
  }),
)

export const test = endpoint({
  method: 'POST',
  path: `${projectServices.path}/:slug/test`,
  summary: 'Test an integration of a project',
  on: projectServices.service,
  allow: 'manage',
  output: entity({ message: z.string() }),
  async handle({ app, viewer, subject: { at, service } }) {
    if (!service.effective) throw notFound('Integration')
    await testService(app, viewer, service.declared, service.effective.row, at.project_id!)
    return { message: '201 Created' }
  },
})
