import type { Throttle } from '../../../api/limits.ts'
import type { App } from '../../../context.ts'
import { andThen, type MaybePromise } from '../../../lib/maybe-promise.ts'
import { settingsAtHand } from './queries.ts'

/** How many requests administrators let the API take: of each user, or of each address without one. */
export const throttleOf = (app: App, isKnown: boolean): MaybePromise<Throttle | null> =>
  andThen(settingsAtHand(app), (settings) => {
    if (isKnown) {
      return settings.throttle_authenticated_api_enabled
        ? {
            limit: settings.throttle_authenticated_api_requests_per_period,
            period: settings.throttle_authenticated_api_period_in_seconds * 1000,
          }
        : null
    }
    return settings.throttle_unauthenticated_enabled
      ? {
          limit: settings.throttle_unauthenticated_requests_per_period,
          period: settings.throttle_unauthenticated_period_in_seconds * 1000,
        }
      : null
  })
