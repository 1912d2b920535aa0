/** The expiry date of a new token. The rules apply to new tokens; existing tokens keep their expiry date. */
import { DAY, after } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { invalid } from '../../../errors.ts'
import { BLANK } from '../../../lib/text/faults.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { latestTokenExpiry } from '../../instance/settings/token-expiry.ts'

/** `usualDays`: the lifetime if no date is requested and the instance allows it. */
export async function expiryOf(
  app: App,
  requested: string | null | undefined,
  usualDays: number | null,
): Promise<string | null> {
  const settings = await currentSettings(app)
  const latest = latestTokenExpiry(settings, app.clock)
  if (requested) {
    if (latest !== null && requested > latest) throw invalid({ expires_at: [`must be before ${dayAfter(latest)}`] })
    return requested
  }
  const usual = usualDays === null ? latest : after(app.clock, usualDays * DAY).slice(0, 10)
  if (usual === null && settings.require_personal_access_token_expiry) throw invalid({ expires_at: [BLANK] })
  return usual !== null && latest !== null && usual > latest ? latest : usual
}

const dayAfter = (day: string) => new Date(Date.parse(day) + DAY).toISOString().slice(0, 10)
