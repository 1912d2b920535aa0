import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Field, Service } from './declare.ts'
import { SERVICE_SWITCHES, type ServiceRow, type ServiceSwitch } from './model.ts'
import type { Effective } from './queries.ts'
import { visibleSettings } from './settings.ts'

const switches = Object.fromEntries(SERVICE_SWITCHES.map((name) => [name, z.boolean()])) as Record<
  ServiceSwitch,
  z.ZodBoolean
>

const brief = {
  id: z.int().nullable(),
  title: z.string(),
  slug: z.string(),
  created_at: timestampOut.nullable(),
  updated_at: timestampOut.nullable(),
  active: z.boolean(),
  ...switches,
  alert_events: z.boolean(),
  inherited: z.boolean(),
  /** Why the service sends nothing any more: the product behind it no longer exists. */
  retired: z.string().nullable(),
}

export const ListedServiceEntity = entity(brief).meta({ id: 'ListedService' })
export const ServiceEntity = entity({
  ...brief,
  properties: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
}).meta({ id: 'Service' })

const switchesOf = (row: ServiceRow | null) =>
  Object.fromEntries(SERVICE_SWITCHES.map((name) => [name, row?.[name] ?? true])) as Record<ServiceSwitch, boolean>

/** A service that was never configured has no id and shows its defaults. */
export function presentListedService(
  { slug, title, gone }: Service,
  effective: Effective | null,
): z.infer<typeof ListedServiceEntity> {
  const row = effective?.row ?? null
  return {
    id: row?.id ?? null,
    title,
    slug,
    created_at: row?.created_at ?? null,
    updated_at: row?.updated_at ?? null,
    active: row?.active ?? false,
    ...switchesOf(row),
    alert_events: false, // this server has no alerts
    inherited: effective?.isInherited ?? false,
    retired: gone ?? null,
  }
}

/** Shows everything but secrets. */
export const presentService = (service: Service, effective: Effective | null): z.infer<typeof ServiceEntity> => ({
  ...presentListedService(service, effective),
  properties: visibleSettings(service, effective?.row ?? null),
})

/** A field of the settings form. */
const FieldEntity = entity({
  name: z.string(),
  type: z.enum(['text', 'password', 'url', 'boolean', 'number', 'choice']),
  required: z.boolean(),
  choices: z.array(z.string()),
  preset: z.union([z.string(), z.number(), z.boolean(), z.null()]),
})

export const KnownServiceEntity = entity({
  slug: z.string(),
  title: z.string(),
  retired: z.string().nullable(),
  events: z.array(z.string()),
  fields: z.array(FieldEntity),
}).meta({ id: 'KnownService' })

function fieldType({ schema, isSecret, address, preset }: Field): z.infer<typeof FieldEntity>['type'] {
  if (schema instanceof z.ZodEnum) return 'choice'
  if (typeof preset === 'boolean') return 'boolean'
  if (typeof preset === 'number') return 'number'
  if (isSecret) return 'password'
  return address === 'guarded' || address === 'link' ? 'url' : 'text'
}

export const presentKnownService = ({
  slug,
  title,
  gone,
  events,
  fields,
}: Service): z.infer<typeof KnownServiceEntity> => ({
  slug,
  title,
  retired: gone ?? null,
  events: [...events],
  fields: Object.entries(fields).map(([name, field]) => ({
    name,
    type: fieldType(field),
    required: field.isRequired,
    choices: field.schema instanceof z.ZodEnum ? field.schema.options.map(String) : [],
    preset: field.preset,
  })),
})
