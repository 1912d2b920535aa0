/**
 * Synchronises the members of a group with its directory links. Each user has at least the highest level that a link
 * gives them. A membership from the directory is raised, lowered and removed with it. A membership made by hand is
 * raised, and returns to its manual level when the directory gives no more. The last owner of a group always stays.
 */
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { NoAccess, Owner } from '../../../lib/levels.ts'
import type { Db, Row } from '../../../store/database.ts'
import { transact } from '../../../store/transact.ts'
import { refreshAuthorizations } from '../../access/authorizations/service.ts'
import { letInByDirectory, removeByDirectory, setLevelByDirectory } from '../../access/members/directory.ts'
import { hasAnotherOwner } from '../../access/members/queries.ts'
import { lockMembers } from '../../access/members/service.ts'
import { updateNamespace } from '../../identity/namespaces/service.ts'
import { checkPresence } from '../../identity/users/presence.ts'
import { findUser } from '../../identity/users/queries.ts'
import { linksOf, usersByDn, type DirectoryLink } from './queries.ts'

type Member = Row<'members'>

/**
 * Asks the directory first, then applies all changes in one transaction. If the directory is unreachable, nothing
 * changes.
 */
export async function syncGroup(app: App, id: number): Promise<void> {
  const startedAt = timestamp(app.clock)
  const answers = await ask(app, await linksOf(app.db, id))
  const left = await transact(app, async (app) => {
    await lockMembers(app, { group_id: id, project_id: null })
    const group = await app.db
      .selectFrom('namespaces')
      .select('ldap_synced_at')
      .where('id', '=', id)
      .where('deleting', '=', false)
      .executeTakeFirst()
    if (!group) return []
    if (isOvertaken(app, startedAt, group.ldap_synced_at)) return []
    const input = await linkedLevels(app.db, await linksOf(app.db, id), answers)
    if (input.isComplete) {
      await updateNamespace(app, id, { ldap_synced_at: startedAt })
    }
    return fulfil(app, id, input)
  })
  // A user who left the directory group may have left the directory.
  for (const userId of left) {
    const user = await findUser(app.db, userId)
    if (user) await checkPresence(app, user)
  }
}

/**
 * A run that asked the directory later has already finished, so its answer is newer. A time in the future comes from a
 * wrong clock and is ignored.
 */
const isOvertaken = ({ clock }: App, startedAt: string, synced: string | null): boolean =>
  synced !== null && synced > startedAt && synced <= timestamp(clock)

/** DNs by the id of the link. Directories that are not configured are skipped. */
async function ask(app: App, links: readonly DirectoryLink[]): Promise<Map<number, string[]>> {
  const answers = new Map<number, string[]>()
  for (const { id, group_id, provider, cn, filter } of links) {
    const directory = app.directories.find((one) => one.provider === provider)
    if (!directory) continue
    const members = await (filter ? directory.findMatching(filter) : directory.findMembers(cn))
    if (!members) app.log.warn({ part: 'directory', provider, cn, group_id }, 'a linked directory group does not exist')
    answers.set(id, members ?? [])
  }
  return answers
}

interface Options {
  /** By user id. */
  readonly levels: ReadonlyMap<number, number>
  /** Whether every link was answered. If not, a user whom no other link names may still belong to the group. */
  readonly isComplete: boolean
}

async function linkedLevels(
  db: Db,
  links: readonly DirectoryLink[],
  answers: ReadonlyMap<number, readonly string[]>,
): Promise<Options> {
  const levels = new Map<number, number>()
  for (const [provider, ofProvider] of Map.groupBy(links, (link) => link.provider)) {
    const users = await usersByDn(db, provider)
    for (const { id, group_access } of ofProvider) {
      for (const dn of answers.get(id) ?? []) {
        const user = users.get(dn)
        if (user !== undefined) levels.set(user, Math.max(group_access, levels.get(user) ?? NoAccess))
      }
    }
  }
  return { levels, isComplete: links.every(({ id }) => answers.has(id)) }
}

/**
 * Returns the removed users. Additions and promotions come first: with a new owner in place, the old one can be
 * removed.
 */
async function fulfil(app: TransactionApp, group: number, { levels, isComplete }: Options): Promise<number[]> {
  const members = await app.db.selectFrom('members').selectAll().where('group_id', '=', group).orderBy('id').execute()
  const byUser = new Map(members.map((member) => [member.user_id, member]))
  const changed: number[] = []
  const left: number[] = []
  for (const [user, level] of levels) {
    const member = byUser.get(user)
    if (member && member.access_level >= level) continue
    await (member ? setLevelByDirectory(app, member, level) : letInByDirectory(app, group, user, level))
    changed.push(user)
  }
  for (const member of isComplete ? members.filter(isDirectorys) : []) {
    const level = Math.max(levels.get(member.user_id) ?? NoAccess, member.hand_level ?? NoAccess)
    if (level >= member.access_level || (await isLastOwner(app, member))) continue
    await (level === NoAccess ? removeByDirectory(app, member) : setLevelByDirectory(app, member, level))
    if (level === NoAccess) left.push(member.user_id)
    changed.push(member.user_id)
  }
  if (changed.length > 0) await refreshAuthorizations(app, { users: changed, group })
  return left
}

/** The membership, or the raised part of its level, comes from the directory. */
const isDirectorys = ({ from_directory, hand_level }: Member) => from_directory || hand_level !== null

async function isLastOwner(app: App, member: Member): Promise<boolean> {
  if (member.access_level !== Owner || (await hasAnotherOwner(app.db, member))) return false
  const { group_id, user_id } = member
  app.log.warn({ part: 'directory', group_id, user_id }, 'the last owner of a group stays, against the directory')
  return true
}
