import { ATTRIBUTES } from './attributes.ts'
import type { Attribute } from './attribute.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** One row per setting that was changed, and one of the defaults (`defaults.ts`); the value is JSON. Names beginning with `secret:` are other families'. */
    settings: { name: string; value: string }
  }
  interface Events {
    'settings.updated': { names: string[] }
  }
}

export type Visibility = 'private' | 'internal' | 'public'

type Value<A> = A extends Attribute<infer T> ? T : never

export type Settings = { readonly [K in keyof typeof ATTRIBUTES]: Value<(typeof ATTRIBUTES)[K]> }
export type SettingName = keyof Settings

export const SETTING_NAMES = Object.keys(ATTRIBUTES) as SettingName[]

/** The table's rows with the types of their values worn off. */
export const attributeOf = (name: SettingName): Attribute<unknown> => ATTRIBUTES[name] as Attribute<unknown>

export const DEFAULTS = Object.freeze(
  Object.fromEntries(SETTING_NAMES.map((name) => [name, attributeOf(name).initial])),
) as unknown as Settings
