import { z } from 'zod'
import { bool } from '../../../api/wire.ts'
import { ALIASES } from './attributes.ts'
import { SETTING_NAMES, attributeOf, type SettingName } from './model.ts'

type Options = Record<string, unknown>
type Alias = keyof typeof ALIASES

const ALIAS_NAMES = Object.keys(ALIASES) as Alias[]

const spellingsOf = (name: SettingName): string[] => [name, ...ALIAS_NAMES.filter((alias) => ALIASES[alias] === name)]

const ALIASED = [...new Set(Object.values(ALIASES))].map(spellingsOf)

const isGiven = (value: unknown) => value !== undefined && value !== null

/** Maps all names of a setting to its own name. */
export function canonicalInput(input: Options): Options {
  const request = { ...input }
  for (const alias of ALIAS_NAMES) {
    if (isGiven(request[alias])) request[ALIASES[alias]] = request[alias]
    delete request[alias]
  }
  return request
}

/** Clients send whole records back, so two names of one setting conflict only if their values differ. */
function contradictions(input: Options): string[] {
  return ALIASED.map((spellings) => spellings.filter((name) => isGiven(input[name])))
    .filter((given) => new Set(given.map((name) => JSON.stringify(input[name]))).size > 1)
    .map((given) => `${given.join(', ')} are mutually exclusive`)
}

function missingCompanions(input: Options): string[] {
  const request = canonicalInput(input)
  return SETTING_NAMES.filter((name) => request[name] === true)
    .flatMap((name) => attributeOf(name).needs)
    .filter((need) => request[need] === undefined)
}

const shape = {
  ...Object.fromEntries(SETTING_NAMES.map((name) => [name, attributeOf(name).input])),
  ...Object.fromEntries(ALIAS_NAMES.map((alias) => [alias, attributeOf(ALIASES[alias]).input])),
  performance_bar_enabled: bool.nullish(),
}
const NONE = `${Object.keys(shape).join(', ')} are missing, at least one parameter must be provided`

export const SettingsInput = z.object(shape).superRefine((input, { addIssue }) => {
  if (Object.keys(input).length === 0) addIssue(NONE)
  for (const message of contradictions(input)) addIssue(message)
  for (const name of missingCompanions(input)) addIssue({ code: 'custom', path: [name] })
})
