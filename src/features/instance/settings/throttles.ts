import type { EndpointLimit, Throttle, Throttled } from '../../../api/limits.ts'
import type { App, User } from '../../../context.ts'
import { andThen, type MaybePromise } from '../../../lib/async/maybe-promise.ts'
import { settingsAtHand } from './queries.ts'

/** The rate limit that administrators set, if any. */
export const throttleOf = (app: App, whom: Throttled): MaybePromise<Throttle | null> =>
  andThen(settingsAtHand(app), (settings) =>
    settings[`throttle_${whom}_enabled`]
      ? {
          limit: settings[`throttle_${whom}_requests_per_period`],
          period: settings[`throttle_${whom}_period_in_seconds`] * 1000,
        }
      : null,
  )

const isNamed = (usernames: readonly string[], { username }: User) =>
  usernames.some((one) => one.toLowerCase() === username.toLowerCase())

/** How often one caller may call an endpoint; 0 is no limit. */
export const limitOf = (app: App, limit: EndpointLimit, user: User | null): MaybePromise<number | null> =>
  andThen(settingsAtHand(app), (settings) => {
    const isExempt = limit === 'notes_create_limit' && user && isNamed(settings.notes_create_limit_allowlist, user)
    return isExempt || settings[limit] === 0 ? null : settings[limit]
  })
