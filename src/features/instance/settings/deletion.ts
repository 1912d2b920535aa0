import { DAY, after, type Clock } from '../../../clock.ts'
import type { Settings } from './model.ts'

/** The last day on which a record deleted now can be restored; null if it is deleted permanently. */
export const lastRestoreDay = ({ deletion_adjourned_period: days }: Settings, clock: Clock): string | null =>
  days === 0 ? null : after(clock, days * DAY).slice(0, 10)
