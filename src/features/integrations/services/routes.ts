import { z } from 'zod'
import { endpoint, type Endpoint } from '../../../api/endpoint.ts'
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
import { groupMount, olderMount, projectMount, type FoundService, type Mount } from './mounts.ts'
import { effectiveServices, type ServicePlace } from './queries.ts'
import { SERVICES } from './registry.ts'
import { configureService, disableService } from './service.ts'
import { testService } from './testing.ts'

const atEvery = (declare: (mount: Mount) => Endpoint) =>
  [declare(projectMount), declare(olderMount), declare(groupMount)] as const

const switches = Object.fromEntries(SERVICE_SWITCHES.map((name) => [name, bool.nullish()])) as Record<
  ServiceSwitch,
  z.ZodOptional<z.ZodNullable<typeof bool>>
>

/** Beside these the properties of the service itself, which its declaration checks. */
const wish = z.looseObject({ active: bool.nullish(), use_inherited_settings: bool.nullish(), ...switches })

/** One that was never set is there by the older name only. */
function assertSet({ era }: Mount, { effective }: FoundService): void {
  if (!effective && era === 'integrations') throw notFound('Integration')
}

async function presentNow(app: App, place: ServicePlace, { declared }: FoundService) {
  const effective = (await effectiveServices(app.db, place)).get(declared.slug) ?? null
  return presentService(declared, effective)
}

export const listKnown = endpoint({
  method: 'GET',
  path: '/integrations',
  summary: 'List the services there are, with their fields',
  allow: 'signed_in',
  output: z.array(KnownServiceEntity),
  handle: async () => SERVICES.map(presentKnownService),
})

export const [list, listByOlderName, listOfGroup] = atEvery((mount) =>
  endpoint({
    method: 'GET',
    path: mount.path,
    summary: `List the services of a ${mount.kind} that are active, its own and inherited ones`,
    on: mount.place,
    allow: 'manage',
    output: z.array(ListedServiceEntity),
    async handle({ app, subject }) {
      const found = await effectiveServices(app.db, subject.place)
      return SERVICES.flatMap((service) => {
        const effective = found.get(service.slug)
        return effective?.row.active ? [presentListedService(service, effective)] : []
      })
    },
  }),
)

export const [get, getByOlderName, getOfGroup] = atEvery((mount) =>
  endpoint({
    method: 'GET',
    path: `${mount.path}/:slug`,
    summary: `Get a service of a ${mount.kind}, without its secrets`,
    on: mount.service,
    allow: 'manage',
    output: ServiceEntity,
    async handle({ subject: { service } }) {
      assertSet(mount, service)
      return presentService(service.declared, service.effective)
    },
  }),
)

export const [update, updateByOlderName, updateOfGroup] = atEvery((mount) =>
  endpoint({
    method: 'PUT',
    path: `${mount.path}/:slug`,
    summary: `Set a service of a ${mount.kind} and switch it on`,
    on: mount.changedService,
    allow: 'manage',
    input: wish,
    output: ServiceEntity,
    async handle({ app, subject: { place, service }, input }) {
      await configureService(app, place, service.declared, input, input)
      return presentNow(app, place, service)
    },
  }),
)

export const [destroy, destroyByOlderName, destroyOfGroup] = atEvery((mount) =>
  endpoint({
    method: 'DELETE',
    path: `${mount.path}/:slug`,
    summary: `Switch a service of a ${mount.kind} off and forget its properties`,
    on: mount.service,
    allow: 'manage',
    changedAt: ({ service: { effective } }) => effective?.row.updated_at ?? new Date(0).toISOString(),
    output: null,
    async handle({ app, subject: { place, service } }) {
      assertSet(mount, service)
      if (service.effective) await disableService(app, place, service.declared)
    },
  }),
)

export const test = endpoint({
  method: 'POST',
  path: `${projectMount.path}/:slug/test`,
  summary: 'Send a test message to a service of a project and tell whether it was taken',
  on: projectMount.service,
  allow: 'manage',
  output: entity({ message: z.string() }),
  async handle({ app, viewer, subject: { place, service } }) {
    if (!service.effective) throw notFound('Integration')
    await testService(app, viewer, service.declared, service.effective.row, place.project_id!)
    return { message: '201 Created' }
  },
})
