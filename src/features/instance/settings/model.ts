import { ATTRIBUTES } from './attributes.ts'
import type { Attribute } from './attribute.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /**
     * One row per changed setting, and one for the defaults (`defaults.ts`); the value is JSON. Names that begin with
     * `secret:` belong to other families.
     */
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

/** A setting without its value type. */
export const attributeOf = (name: SettingName): Attribute<unknown> => ATTRIBUTES[name] as Attribute<unknown>

export const DEFAULTS = Object.freeze(
  Object.fromEntries(SETTING_NAMES.map((name) => [name, attributeOf(name).initial])),
) as unknown as Settings
