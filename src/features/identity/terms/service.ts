/**
 * The terms of service of the instance. The store keeps the digest of the text each user accepted, so a new text must
 * be accepted again. Until then the user's sessions can open nothing else. Tokens keep working.
 */
import type { App, User } from '../../../context.ts'
import { andThen, type MaybePromise } from '../../../lib/async/maybe-promise.ts'
import { digestOf } from '../../../lib/crypto/secrets.ts'
import { weakMemo } from '../../../lib/async/weak-memo.ts'
import type { Settings } from '../../instance/settings/model.ts'
import { settingsAtHand } from '../../instance/settings/queries.ts'

/** The page that shows the terms and accepts them. */
export const TERMS = '/-/users/terms'

export interface Terms {
  readonly text: string
  readonly digest: string
}

/** Needed by every request, so the digest is computed once per settings object. */
const enforced = weakMemo(({ enforce_terms, terms }: Settings) => ({
  terms: enforce_terms && terms ? { text: terms, digest: digestOf(terms) } : null,
}))

/** Null if the instance has no terms to accept. */
export const termsOf = (app: App): MaybePromise<Terms | null> =>
  andThen(settingsAtHand(app), (settings) => enforced(settings).terms)

export const isTermsDue = (app: App, { accepted_terms: accepted }: User): MaybePromise<boolean> =>
  andThen(termsOf(app), (terms) => terms !== null && terms.digest !== accepted)

export async function acceptTerms({ db }: App, { id }: User, { digest }: Terms): Promise<void> {
  await db.updateTable('users').set({ accepted_terms: digest }).where('id', '=', id).execute()
}
