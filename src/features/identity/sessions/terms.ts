/**
 * What the instance asks its people to accept. Kept of each of them is the digest of the text they accepted, so that
 * another text is asked for again; until then their sessions open nothing else. Tokens go on.
 */
import type { App, User } from '../../../context.ts'
import { andThen, type MaybePromise } from '../../../lib/maybe-promise.ts'
import { digestOf } from '../../../lib/secrets.ts'
import { weakMemo } from '../../../lib/weak-memo.ts'
import type { Settings } from '../../instance/settings/model.ts'
import { settingsAtHand } from '../../instance/settings/queries.ts'

/** Where they are read and accepted. */
export const TERMS = '/-/users/terms'

export interface Terms {
  readonly text: string
  readonly digest: string
}

/** Every request asks for it: the digest is made once for settings as they were read. */
const enforced = weakMemo(({ enforce_terms, terms }: Settings) => ({
  terms: enforce_terms && terms ? { text: terms, digest: digestOf(terms) } : null,
}))

/** Null where nothing is asked. */
export const termsOf = (app: App): MaybePromise<Terms | null> =>
  andThen(settingsAtHand(app), (settings) => enforced(settings).terms)

export const isTermsDue = (app: App, { accepted_terms: accepted }: User): MaybePromise<boolean> =>
  andThen(termsOf(app), (terms) => terms !== null && terms.digest !== accepted)

export async function acceptTerms({ db }: App, { id }: User, { digest }: Terms): Promise<void> {
  await db.updateTable('users').set({ accepted_terms: digest }).where('id', '=', id).execute()
}
