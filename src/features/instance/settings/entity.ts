import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import { ALIASES, isRaw } from './attributes.ts'
import { SETTING_NAMES, attributeOf, type Settings } from './model.ts'
import type { SettingsRecord } from './queries.ts'

const aliases = Object.entries(ALIASES)

/** Sent as text, as clients expect. */
const DECIMALS = ['polling_interval_multiplier', 'sidekiq_throttling_factor'] as const
const decimalText = (value: number): string => (Number.isInteger(value) ? `${value}.0` : String(value))

export const SettingsEntity = entity({
  id: z.int(),
  ...Object.fromEntries(SETTING_NAMES.map((name) => [name, attributeOf(name).output])),
  ...Object.fromEntries(aliases.map(([alias, name]) => [alias, isRaw(alias) ? z.string() : attributeOf(name).output])),
  ...Object.fromEntries(DECIMALS.map((name) => [name, z.string()])),
  created_at: timestampOut,
  updated_at: timestampOut,
}).meta({ id: 'Settings' })

const readAs = (alias: string, value: Settings[(typeof ALIASES)[keyof typeof ALIASES]]) =>
  isRaw(alias) && Array.isArray(value) ? value.join('\n') : value

export function presentSettings({ settings, created_at, updated_at }: SettingsRecord): z.infer<typeof SettingsEntity> {
  return {
    id: 1,
    ...settings,
    ...Object.fromEntries(aliases.map(([alias, name]) => [alias, readAs(alias, settings[name])])),
    ...Object.fromEntries(DECIMALS.map((name) => [name, decimalText(settings[name])])),
    created_at,
    updated_at,
  }
}
