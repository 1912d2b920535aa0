import type { Throttle, Throttled } from '../../../api/limits.ts'
import type { App } from '../../../context.ts'
import { andThen, type MaybePromise } from '../../../lib/maybe-promise.ts'
import { settingsAtHand } from './queries.ts'

/** How many requests administrators let callers send, if they set it. */
export const throttleOf = (app: App, whom: Throttled): MaybePromise<Throttle | null> =>
  andThen(settingsAtHand(app), (settings) =>
    settings[`throttle_${whom}_enabled`]
      ? {
          limit: settings[`throttle_${whom}_requests_per_period`],
          period: settings[`throttle_${whom}_period_in_seconds`] * 1000,
        }
      : null,
  )
