import { faultsOf, hasFaults, rulesOf } from '../../../api/rules.ts'
import { invalid } from '../../../errors.ts'
import { BLANK } from '../../../lib/text/faults.ts'
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
  if (KEY_RESTRICTIONS.every((name) => settings[name] === -1)) yield ['allowed_key_types', BLANK]
  for (const name of SETTING_NAMES) {
    if (settings[name] !== true) continue
    for (const need of attributeOf(name).needs) {
      if (isBlank(settings[need as keyof Settings])) yield [need, BLANK]
    }
  }
}

const settingsRules = rulesOf(Object.fromEntries(SETTING_NAMES.map((name) => [name, attributeOf(name).rules])))

/** Throws with all errors of the whole record. */
export function assertValidSettings(settings: Settings): void {
  const faults = faultsOf(settingsRules, settings)
  for (const [name, fault] of commonFaults(settings)) (faults[name] ??= []).push(fault)
  if (hasFaults(faults)) throw invalid(faults)
}
