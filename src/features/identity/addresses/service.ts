/**
 * Limits the number of IP addresses per user within a window (`unique_ips_limit_*`). Known addresses stay allowed; a
 * further address is rejected until a known one was not seen for the length of the window. The counts are in the store,
 * so all processes share them. While the limit is off, nothing is read or written.
 */
import { MINUTE, after, timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { networkOf } from '../../../lib/net/addresses.ts'
import { andThen, type MaybePromise } from '../../../lib/async/maybe-promise.ts'
import { lockName } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { transact } from '../../../store/transact.ts'
import type { Settings } from '../../instance/settings/model.ts'
import { settingsAtHand } from '../../instance/settings/queries.ts'
import type { UserAddress } from './model.ts'

const NOTED_EVERY = 5 * MINUTE

const SENTENCE =
  'Your account is in use from too many IP addresses. Try again later, or use one of the other addresses.'

/** `reason` tells this refusal from others; `fault` is shown on the sign-in page. */
const tooManyAddresses = () =>
  new Refusal('forbidden', `403 Forbidden - ${SENTENCE}`, { reason: 'addresses', fault: SENTENCE })

export const isOfTooManyAddresses = (error: unknown): boolean =>
  error instanceof Refusal && error.facts.reason === 'addresses'

export function assertMayComeFrom(app: App, user: Pick<User, 'id'>, address: string): MaybePromise<void> {
  return andThen(mayComeFrom(app, user, address), (may) => {
    if (!may) throw tooManyAddresses()
  })
}

/** Records the address if it is allowed. Resolves to whether it is. */
export function mayComeFrom(app: App, { id }: Pick<User, 'id'>, address: string): MaybePromise<boolean> {
  return andThen(settingsAtHand(app), (settings) => {
    if (!settings.unique_ips_limit_enabled) return true
    const scope = new Scope(app, settings, id, networkOf(address))
    return andThen(addressesOf(app.db, { user_id: id }), (known) => {
      if (!scope.isAmongFirst(known)) return false
      return scope.isNoted(known) || note(app, scope)
    })
  })
}

const addressesOf = hotQuery((db, p: { user_id: number }) =>
  db.selectFrom('user_addresses').selectAll().where('user_id', '=', p.user_id),
)

/** A user at an address, now. */
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

  /** The row of this address, while it is within the window. */
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

/** Runs one at a time per user: of two new addresses that compete for the last free slot, one is rejected. */
function note(app: App, scope: Scope): Promise<boolean> {
  const { userId: user_id, address, window } = scope
  return transact(app, async (app) => {
    await lockName(app.db, `addresses ${user_id}`)
    const known = await addressesOf(app.db, { user_id })
    if (!scope.isAmongFirst(known)) return false
    const now = timestamp(app.clock)
    const since = scope.own(known)?.since ?? now
    await forget(app, window).where('user_id', '=', user_id).execute()
    await app.db
      .insertInto('user_addresses')
      .values({ user_id, address, since, seen_at: now })
      .onConflict((c) => c.columns(['user_id', 'address']).doUpdateSet({ since, seen_at: now }))
      .execute()
    return true
  })
}

/** Deletes addresses outside the window. */
export const forget = ({ db, clock }: App, window: number) =>
  db.deleteFrom('user_addresses').where('seen_at', '<=', after(clock, -window))
