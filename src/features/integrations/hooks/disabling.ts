/**
 * Disables webhooks that keep failing, for a time, where the instance setting says so (reference: test, log, resend).
 */
import { DAY, MINUTE, after, timestamp, type Clock } from '../../../clock.ts'
import { kindOf, type Hook } from './model.ts'

export const ALERT_STATUSES = ['executable', 'temporarily_disabled', 'disabled'] as const

export type AlertStatus = (typeof ALERT_STATUSES)[number]

const FIRST_THAT_COUNTS = 4
const LAST_THAT_COUNTS = 40

type State = Pick<Hook, 'failures' | 'disabled_until' | 'project_id' | 'group_id'>

interface Around {
  readonly clock: Clock
  /** The instance setting. */
  readonly isOn: boolean
}

export function alertStatusOf(hook: State, { clock, isOn }: Around): AlertStatus {
  if (!isOn || kindOf(hook) === 'instance') return 'executable'
  if (hook.failures >= LAST_THAT_COUNTS) return 'disabled'
  return hook.disabled_until !== null && hook.disabled_until > timestamp(clock) ? 'temporarily_disabled' : 'executable'
}

/** Counts failures even while the setting is off, so that the setting takes effect at once. */
export function healthAfter(
  { failures }: Pick<Hook, 'failures'>,
  isFailure: boolean,
  clock: Clock,
): Pick<Hook, 'failures' | 'disabled_until'> {
  if (!isFailure) return { failures: 0, disabled_until: null }
  const now = failures + 1
  if (now < FIRST_THAT_COUNTS) return { failures: now, disabled_until: null }
  const wait = Math.min(DAY, MINUTE * 2 ** (Math.min(now, LAST_THAT_COUNTS) - FIRST_THAT_COUNTS))
  return { failures: now, disabled_until: after(clock, wait) }
}
