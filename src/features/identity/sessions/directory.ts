/**
 * Sign-in by a directory (LDAP): finds the account that a directory password opens, or creates it at the first sign-in.
 */
import { sql } from 'kysely'
import type { App, User } from '../../../context.ts'
import {
  DirectoryUnreachable,
  normaliseDn,
  type Directory,
  type DirectoryPerson,
} from '../../../directory/directory.ts'
import { Refusal } from '../../../errors.ts'
import { isPath, isReservedAtTop, pathOf } from '../../../lib/files/paths.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { findUserByDn, type DirectoryIdentity } from '../users/identities.ts'
import { createUser, setIdentity } from '../users/service.ts'
import { liftDirectoryBlock } from '../users/state.ts'

/** For a user who cannot sign in for a reason outside their control; `fault` is the text for pages. */
export const directoryRefusal = (fault: string) =>
  new Refusal('unauthenticated', `401 Unauthorized. ${fault}`, { fault })

export interface DirectoryTry {
  readonly login: string
  readonly password: string
  /** Directory identities of the account with this login, if any. */
  readonly identities: readonly DirectoryIdentity[]
}

/** `unreachable`: at least one directory could not be reached, and no other directory knew the user. */
export async function signInByDirectory(
  app: App,
  { login, password, identities }: DirectoryTry,
): Promise<User | 'unreachable' | null> {
  let answer: 'unreachable' | null = null
  for (const directory of app.directories) {
    const dn = identities.find(({ provider }) => provider === directory.provider)?.extern_uid
    try {
      const person = await directory.authenticate(login, password, dn)
      if (person) return await accountOf(app, directory, person)
    } catch (err) {
      if (!(err instanceof DirectoryUnreachable)) throw err
      app.log.warn({ part: 'directory', err }, 'a sign-in could not be checked')
      answer = 'unreachable'
    }
  }
  return answer
}

async function accountOf(app: App, directory: Directory, person: DirectoryPerson): Promise<User> {
  const user =
    (await findUserByDn(app.db, directory.provider, person.dn)) ??
    (await linkByEmail(app, directory, person)) ??
    (await createAccount(app, directory, person))
  return liftDirectoryBlock(app, user)
}

/**
 * The administrator trusts the directory, so an account with the person's email address is linked, as in other forges.
 * There are limits. Many directories let people edit their own address, so an administrator's account is never linked.
 * An unconfirmed address may belong to an account that somebody else prepared. An account that is already linked to a
 * directory entry is relinked only when that entry no longer exists, as after a move within the tree.
 */
async function linkByEmail(app: App, directory: Directory, { dn, email }: DirectoryPerson): Promise<User | null> {
  if (!email) return null
  const user = await app.db
    .selectFrom('users')
    .selectAll()
    .where('email', '=', email.toLowerCase())
    .where('ghost', '=', false)
    .executeTakeFirst()
  if (!user) return null
  const { provider } = directory
  if (user.admin || user.confirmed_at === null || (await belongsToAnother(app, directory, user, dn))) {
    app.log.warn({ part: 'directory', provider, dn, user_id: user.id }, 'an account with this email is not linked')
    throw directoryRefusal('Your email address belongs to another account. Ask an administrator to link it.')
  }
  return transact(app, async (app) => {
    await setIdentity(app, user, { provider, extern_uid: dn })
    await emit(app, 'user.updated', { id: user.id })
    // From now on the directory's password counts; there is no local password that could expire.
    return app.db
      .updateTable('users')
      .set({ password_expires_at: null })
      .where('id', '=', user.id)
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

async function belongsToAnother(app: App, directory: Directory, user: User, dn: string): Promise<boolean> {
  const identity = await app.db
    .selectFrom('identities')
    .select('extern_uid')
    .where('user_id', '=', user.id)
    .where('provider', '=', directory.provider)
    .executeTakeFirst()
  // The same DN means that the same person signs in twice concurrently for the first time.
  if (!identity || normaliseDn(identity.extern_uid) === dn) return false
  return (await directory.findPerson(identity.extern_uid)) !== null
}

/** The account has no local password, so none can be guessed. */
async function createAccount(app: App, { provider }: Directory, person: DirectoryPerson): Promise<User> {
  const { dn, email, name } = person
  if (!email) throw directoryRefusal('Your LDAP entry has no email address.')
  const username = await freeUsername(app, person.username)
  const identity = { provider, extern_uid: dn }
  try {
    return await createUser(app, { username, email, name: name.slice(0, 255), skip_confirmation: true, ...identity })
  } catch (err) {
    if (!(err instanceof Refusal)) throw err
    // The second of two concurrent first sign-ins finds the account that the first one created.
    const made = await findUserByDn(app.db, provider, dn)
    if (made) return made
    app.log.warn({ part: 'directory', provider, dn, reason: err.reason }, 'no account could be made')
    throw directoryRefusal('Your account could not be created. Contact an administrator.')
  }
}

async function freeUsername(app: App, uid: string): Promise<string> {
  const base = isPath(uid) ? uid : pathOf(uid.replace(/@.*/s, '')) || 'user'
  for (let suffix = 0; ; suffix++) {
    const username = `${base.slice(0, 200)}${suffix || ''}`
    if (isReservedAtTop(username)) continue
    const taken = await app.db
      .selectFrom('namespaces')
      .select('id')
      .where(sql`lower(full_path)`, '=', username.toLowerCase())
      .executeTakeFirst()
    if (!taken) return username
  }
}
