/** Validates new settings against the declaration, and reads stored settings from the row. */
import { z } from 'zod'
import { parseInput, type Raw } from '../../../api/input.ts'
import { blankable } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { BLANK } from '../../../lib/text/faults.ts'
import { isAllowedAddress } from '../outgoing.ts'
import type { Service } from './declare.ts'
import type { ServiceRow, Setting, Settings } from './model.ts'

type Stored = Record<string, Setting>

/** An invalid property. `error` names the fault; the message is the one that clients expect. */
const badProperty = (name: string, fault = 'is invalid') =>
  new Refusal('bad_request', '400 Bad Request', { error: `${name} ${fault}` })

export const propertiesOf = ({ properties }: Pick<ServiceRow, 'properties'>): Stored => JSON.parse(properties) as Stored

export const secretsOf = (
  { vault }: Pick<App, 'vault'>,
  { secrets_sealed }: Pick<ServiceRow, 'secrets_sealed'>,
): Stored => (secrets_sealed === null ? {} : (JSON.parse(vault.open(secrets_sealed)) as Stored))

/** All settings, with defaults where none is stored. */
export function settingsOf(app: Pick<App, 'vault'>, service: Service, row: ServiceRow): Settings {
  return withPresets(service, { ...propertiesOf(row), ...secretsOf(app, row) })
}

const withPresets = ({ fields }: Service, kept: Stored): Stored =>
  Object.fromEntries(Object.entries(fields).map(([name, { preset }]) => [name, kept[name] ?? preset]))

/** The settings that are not secret. */
export function visibleSettings(service: Service, row: Pick<ServiceRow, 'properties'> | null): Stored {
  const all = withPresets(service, row ? propertiesOf(row) : {})
  return Object.fromEntries(Object.entries(all).filter(([name]) => !service.fields[name]!.isSecret))
}

export interface NewSettings {
  readonly properties: string
  readonly secrets_sealed: string | null
}

/** Null and blank clear a property. Other properties stay, except secrets that must not go to a new URL. */
export async function changedSettings(
  app: App,
  service: Service,
  row: ServiceRow | null,
  raw: Raw,
): Promise<NewSettings> {
  const before = row ? { ...propertiesOf(row), ...secretsOf(app, row) } : {}
  const input = inputIn(service, raw)
  for (const [name, value] of Object.entries(input))
    if (!(await isUsable(app, service, name, value))) throw badProperty(name)
  const after = { ...withoutExposed(service, before, input), ...input }
  assertComplete(service, after, input)
  const parts = (isSecret: boolean) =>
    Object.entries(after).filter(([name, value]) => service.fields[name]?.isSecret === isSecret && value !== null)
  const secrets = parts(true)
  return {
    properties: JSON.stringify(Object.fromEntries(parts(false))),
    secrets_sealed: secrets.length > 0 ? app.vault.seal(JSON.stringify(Object.fromEntries(secrets))) : null,
  }
}

const schemas = new WeakMap<Service, z.ZodObject>()

function schemaOf(service: Service): z.ZodObject {
  const known = schemas.get(service)
  if (known) return known
  const shape = Object.entries(service.fields).map(([name, { schema }]) => [name, blankable(schema)] as const)
  const schema = z.object(Object.fromEntries(shape))
  schemas.set(service, schema)
  return schema
}

function inputIn(service: Service, raw: Raw): Stored {
  const {
    parts: [parsed],
  } = parseInput([schemaOf(service)], raw)
  const input = Object.fromEntries(Object.entries(parsed!).filter(([, value]) => value !== undefined)) as Stored
  return { ...input, ...branchesIn(service, input) }
}

/** Two fields of one setting: a change of either changes both. */
function branchesIn({ fields }: Service, input: Stored): Stored {
  if (!fields.branches_to_be_notified || !fields.notify_only_default_branch) return {}
  const { branches_to_be_notified: branches, notify_only_default_branch: isDefault } = input
  if (typeof branches === 'string') return { notify_only_default_branch: branches === 'default' }
  return typeof isDefault === 'boolean' ? { branches_to_be_notified: isDefault ? 'default' : 'all' } : {}
}

const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}\.)*[A-Za-z0-9-]{0,63}\.?|[0-9A-Fa-f:.]+)$/

const isLink = (value: string) => /^https?:\/\/[^\s<>"]+$/i.test(value) && URL.canParse(value)

/** The server never opens a link: only users follow it. */
async function isUsable(app: App, { fields }: Service, name: string, value: Setting): Promise<boolean> {
  const address = fields[name]?.address
  if (!address || typeof value !== 'string') return true
  if (address === 'host') return HOST.test(value)
  return isLink(value) && (address === 'link' || (await isAllowedAddress(app, 'hooks', value)))
}

/**
 * Drops secrets when a target URL changes. Otherwise a user who changes the URL would receive secrets that others
 * entered. A URL that is itself a secret does not count: no other secret is sent to it.
 */
function withoutExposed({ fields }: Service, before: Stored, input: Stored): Stored {
  const leadsThere = (name: string) =>
    fields[name]?.address !== 'link' && Boolean(fields[name]?.address) && !fields[name]?.isSecret
  const isMoved = Object.entries(input).some(([name, value]) => leadsThere(name) && value !== (before[name] ?? null))
  if (!isMoved) return before
  return Object.fromEntries(Object.entries(before).filter(([name]) => !fields[name]?.isSecret))
}

function assertComplete({ fields }: Service, after: Stored, input: Stored): void {
  const required = Object.entries(fields).filter(([, field]) => field.isRequired)
  const missing = required
    .filter(([name]) => (after[name] ?? null) === null && input[name] !== null)
    .map(([name]) => name)
  if (missing.length > 0) {
    throw new Refusal('bad_request', `400 (Bad request) ${missing.join(', ')} not given`, {
      error: missing.map((name) => `${name} is missing`).join(', '),
    })
  }
  const blank = required.find(([name, field]) => after[name] === null && !field.mayBeBlank)
  if (blank) throw badProperty(blank[0], BLANK)
}
