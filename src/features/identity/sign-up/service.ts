/** Self-registration with a name, an address and a password, as far as the settings allow it. */
import { DAY, after, timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, invalid, taken } from '../../../errors.ts'
import { networkOf } from '../../../lib/net/addresses.ts'
import { isOfDomain } from './email-domains.ts'
import type { Settings } from '../../instance/settings/model.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { assertMayMail, mailLater } from '../mailing.ts'
import { alreadyRegistered } from '../mail-texts.ts'
import { EMAIL_TAKEN, createUser } from '../users/service.ts'
import { userFaults } from '../users/validation.ts'
import { termsOf, type Terms } from '../terms/service.ts'

export interface Newcomer {
  readonly name: string
  readonly username: string
  readonly email: string
  readonly password: string
  /** The digest of the accepted terms. */
  readonly terms: string | null
  readonly address: string
}

/**
 * Null if the address belongs to an account already. Only its owner is told so, by mail; the visitor gets the same
 * answer as for a free address. Usernames are public, so the username is checked first.
 */
export async function register(app: App, { address, terms: accepted, ...given }: Newcomer): Promise<User | null> {
  const settings = await currentSettings(app)
  const terms = await termsOf(app)
  const newcomer = { ...given, email: given.email.trim().toLowerCase() }
  const faults = { ...faultsOf(settings, newcomer), ...termsFaults(terms, accepted) }
  if (Object.keys(faults).length > 0) throw invalid(faults)
  if (await isUsernameTaken(app, newcomer.username)) throw taken('username')
  await assertMayMail(app, { kind: 'registration', by: networkOf(address), to: newcomer.email })
  try {
    return await createUser(app, {
      ...newcomer,
      state: settings.require_admin_approval_after_user_signup ? 'blocked_pending_approval' : 'active',
      confirm_by: confirmBy(app, settings),
      accepted_terms: terms?.digest ?? null,
    })
  } catch (error) {
    const field = takenField(error)
    if (field === null) throw error
    if (field === 'username' || entersAtOnce(settings)) throw taken(field)
    await mailOwner(app, newcomer.email)
    return null
  }
}

/** Users who get access without a mail or approval see whether the account exists. */
const entersAtOnce = (settings: Settings) =>
  settings.email_confirmation_setting === 'off' && !settings.require_admin_approval_after_user_signup

const GRACE = 3 * DAY
const NEVER = '9999-12-31T23:59:59.999Z'

/** An address that need not be confirmed does not count as confirmed either: it may belong to another person. */
function confirmBy({ clock }: App, { email_confirmation_setting: setting }: Settings): string {
  if (setting === 'off') return NEVER
  return setting === 'hard' ? timestamp(clock) : after(clock, GRACE)
}

function faultsOf(settings: Settings, newcomer: Omit<Newcomer, 'address' | 'terms'>): Record<string, string[]> {
  const faults = userFaults(newcomer)
  if (!faults.email && !mayRegister(settings, newcomer.email)) {
    faults.email = ['is not of a domain that may register here']
  }
  return faults
}

function mayRegister(settings: Settings, email: string): boolean {
  const { domain_whitelist: only, domain_blacklist: never, domain_blacklist_enabled: isRefusing } = settings
  if (only.length > 0 && !isOfDomain(email, only)) return false
  return !isRefusing || !isOfDomain(email, never)
}

function termsFaults(terms: Terms | null, accepted: string | null): Record<string, string[]> {
  if (terms === null || terms.digest === accepted) return {}
  return { terms: [accepted ? 'have changed: read them again' : 'must be accepted'] }
}

async function isUsernameTaken({ db }: App, username: string): Promise<boolean> {
  const namespace = await db
    .selectFrom('namespaces')
    .select('id')
    .where((eb) => eb(eb.fn<string>('lower', ['full_path']), '=', username.toLowerCase()))
    .executeTakeFirst()
  return namespace !== undefined
}

type TakenField = 'email' | 'username'

function takenField(error: unknown): TakenField | null {
  if (!(error instanceof Refusal)) return null
  const { kind, reason } = error
  if (kind === 'conflict') return reason === EMAIL_TAKEN ? 'email' : 'username'
  // A secondary address of another user.
  return typeof reason === 'object' && 'email' in reason ? 'email' : null
}

/** Mails the owner at the submitted address. Inactive users get no mail. */
async function mailOwner(app: App, email: string): Promise<void> {
  const people = app.db.selectFrom('users').where('users.state', '=', 'active').where('users.ghost', '=', false)
  const owner =
    (await people.select('users.username').where('users.email', '=', email).executeTakeFirst()) ??
    (await people
      .innerJoin('emails', 'emails.user_id', 'users.id')
      .select('users.username')
      .where('emails.email', '=', email)
      .where('emails.confirmed_at', 'is not', null)
      .executeTakeFirst())
  if (!owner) return
  await mailLater(app, { to: email, ...alreadyRegistered(owner.username, app.url) })
}
