/**
 * From how many addresses somebody may come within a while (`unique_ips_limit_*`). Whoever came first stays; a further
 * address is refused until one of those was not seen for the length of the window. Kept in the store: all processes
 * share one count. While it is switched off nothing is read or written.
 */
import { MINUTE, after, timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { networkOf } from '../../../lib/addresses.ts'
import { andThen, type MaybePromise } from '../../../lib/maybe-promise.ts'
import { lockName } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { transact } from '../../../store/transact.ts'
import type { Settings } from '../../instance/settings/model.ts'
import { settingsAtHand } from '../../instance/settings/queries.ts'
import type { UserAddress } from './model.ts'

const NOTED_EVERY = 5 * MINUTE

const SENTENCE = 'Your account is used from too many IP addresses. Try again later, or from one of the others.'

/** `reason` tells it from other refusals; `fault` stands on the page for signing in. */
export const tooManyAddresses = () =>
  new Refusal('forbidden', `403 Forbidden - ${SENTENCE}`, { reason: 'addresses', fault: SENTENCE })

export const isOfTooManyAddresses = (error: unknown): boolean =>
  error instanceof Refusal && error.facts.reason === 'addresses'

export function assertMayComeFrom(app: App, user: Pick<User, 'id'>, address: string): MaybePromise<void> {
  return andThen(mayComeFrom(app, user, address), (may) => {
    if (!may) throw tooManyAddresses()
  })
}

/** Notes where they come from, if they may. */
export function mayComeFrom(app: App, { id }: Pick<User, 'id'>, address: string): MaybePromise<boolean> {
  return andThen(settingsAtHand(app), (settings) => {
    if (!settings.unique_ips_limit_enabled) return true
    const place = new Scope(app, settings, id, networkOf(address))
    return andThen(addressesOf(app.db, { user_id: id }), (known) => {
      if (!place.isAmongFirst(known)) return false
      return place.isNoted(known) || note(app, place)
    })
  })
}

const addressesOf = hotQuery((db, p: { user_id: number }) =>
  db.selectFrom('user_addresses').selectAll().where('user_id', '=', p.user_id),
)

/** Somebody at an address, now. */
class Scope {
  readonly userId: number
  readonly address: string
  readonly limit: number
  readonly window: number
  readonly #now: number

  constructor({ clock }: App, settings: Settings, userId: number, address: string) {
    this.userId = userId
    this.address = address
    this.limit = settings.unique_ips_limit_per_user
    this.window = settings.unique_ips_limit_time_window * 1000
    this.#now = clock.now().getTime()
  }

  #age = ({ seen_at }: UserAddress) => this.#now - Date.parse(seen_at)

  /** Its own row, while it counts. */
  own(known: readonly UserAddress[]): UserAddress | undefined {
    return known.find((one) => one.address === this.address && this.#age(one) < this.window)
  }

  isNoted(known: readonly UserAddress[]): boolean {
    const own = this.own(known)
    return own !== undefined && this.#age(own) < Math.min(NOTED_EVERY, this.window / 2)
  }

  isAmongFirst(known: readonly UserAddress[]): boolean {
    const own = this.own(known)
    const ahead = known.filter(
      (one) => one.address !== this.address && this.#age(one) < this.window && (!own || isBefore(one, own)),
    )
    return ahead.length < this.limit
  }
}

const isBefore = (one: UserAddress, other: UserAddress) =>
  one.since === other.since ? one.address < other.address : one.since < other.since

/** One at a time: of two new addresses that come at once for the last place one is refused. */
function note(app: App, place: Scope): Promise<boolean> {
  const { userId: user_id, address, window } = place
  return transact(app, async (app) => {
    await lockName(app.db, `addresses ${user_id}`)
    const known = await addressesOf(app.db, { user_id })
    if (!place.isAmongFirst(known)) return false
    const now = timestamp(app.clock)
    const since = place.own(known)?.since ?? now
    await forget(app, window).where('user_id', '=', user_id).execute()
    await app.db
      .insertInto('user_addresses')
      .values({ user_id, address, since, seen_at: now })
      .onConflict((c) => c.columns(['user_id', 'address']).doUpdateSet({ since, seen_at: now }))
      .execute()
    return true
  })
}

/** Those that count no more. */
export const forget = ({ db, clock }: App, window: number) =>
  db.deleteFrom('user_addresses').where('seen_at', '<=', after(clock, -window))
