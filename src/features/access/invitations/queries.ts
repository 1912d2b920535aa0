import type { Page, PageRequest } from '../../../api/pages.ts'
import { DAY, after } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { digestOf } from '../../../lib/crypto/secrets.ts'
import type { Db, Row } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { withUsers } from '../../identity/users/queries.ts'
import type { SourceColumns } from '../members/model.ts'
import type { LoadedInvitation } from './entity.ts'

export type Invitation = Row<'invitations'>

export const VALID_FOR = 90 * DAY

/** Addresses are stored and compared in this form. */
export const addressOf = (email: string): string => email.trim().toLowerCase()

const invitationsTo = (db: Db, { group_id, project_id }: SourceColumns) => {
  const all = db.selectFrom('invitations').selectAll()
  return group_id !== null ? all.where('group_id', '=', group_id) : all.where('project_id', '=', project_id)
}

export async function findInvitation(db: Db, at: SourceColumns, email: string): Promise<Invitation | null> {
  return (await invitationsTo(db, at).where('email', '=', addressOf(email)).executeTakeFirst()) ?? null
}

export function listInvitations(
  db: Db,
  at: SourceColumns,
  { query }: { query?: string | null | undefined },
  page: PageRequest,
): Promise<Page<Invitation>> {
  const all = invitationsTo(db, at)
  const found = query ? all.where('email', '=', addressOf(query)) : all
  return pageOfQuery(found.orderBy('id'), page)
}

export async function loadInvitations(app: App, invitations: readonly Invitation[]): Promise<LoadedInvitation[]> {
  const loaded = await withUsers(app.db, invitations, { creator: 'created_by_id' })
  return loaded.map((one) => ({ ...one, token: app.vault.open(one.token_sealed) }))
}

const openInvitations = (app: App) =>
  app.db.selectFrom('invitations').selectAll().where('created_at', '>', after(app.clock, -VALID_FOR))

/** Null if the invitation was used or withdrawn, or has expired. */
export async function findInvitationByToken(app: App, token: string): Promise<Invitation | null> {
  return (await openInvitations(app).where('token_digest', '=', digestOf(token)).executeTakeFirst()) ?? null
}

/** Invitations to the confirmed primary address of the user. */
export async function invitationsOf(app: App, { email, confirmed_at, state }: User): Promise<Invitation[]> {
  if (confirmed_at === null || state !== 'active') return []
  return openInvitations(app).where('email', '=', email).orderBy('id').execute()
}

/** Only the confirmed primary address counts: anybody can claim any other address. */
export async function findUserByConfirmedEmail(db: Db, email: string): Promise<User | null> {
  const user = await db
    .selectFrom('users')
    .selectAll()
    .where('email', '=', email)
    .where('confirmed_at', 'is not', null)
    .where('ghost', '=', false)
    .executeTakeFirst()
  return user ?? null
}
