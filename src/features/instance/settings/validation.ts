import { invalid, type FieldErrors } from '../../../errors.ts'
import { SETTING_NAMES, attributeOf, type Settings } from './model.ts'

const KEY_RESTRICTIONS = [
  'rsa_key_restriction',
  'dsa_key_restriction',
  'ecdsa_key_restriction',
  'ed25519_key_restriction',
] as const

const isBlank = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0)

/** Rules that look at more than one setting. */
function* commonFaults(settings: Settings): Generator<[name: string, fault: string]> {
  const { housekeeping_incremental_repack_period: incremental, housekeeping_full_repack_period: full } = settings
  if (full <= incremental) yield ['housekeeping_full_repack_period', `must be greater than ${incremental}`]
  if (settings.housekeeping_gc_period <= full) yield ['housekeeping_gc_period', `must be greater than ${full}`]
  if (KEY_RESTRICTIONS.every((name) => settings[name] === -1)) yield ['allowed_key_types', "can't be blank"]
  for (const name of SETTING_NAMES) {
    if (settings[name] !== true) continue
    for (const need of attributeOf(name).needs) {
      if (isBlank(settings[need as keyof Settings])) yield [need, "can't be blank"]
    }
  }
}

/** Throws with all errors of the whole record. */
export function assertValidSettings(settings: Settings): void {
  const faults: FieldErrors & Record<string, string[]> = {}
  for (const name of SETTING_NAMES) {
    const value: unknown = settings[name]
    const found = value === null ? [] : attributeOf(name).faults(value as NonNullable<unknown>)
    if (found.length > 0) faults[name] = found
  }
  for (const [name, fault] of commonFaults(settings)) (faults[name] ??= []).push(fault)
  if (Object.keys(faults).length > 0) throw invalid(faults)
}
