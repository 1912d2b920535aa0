/**
 * Code owners of the changes in a merge request, by the `CODEOWNERS` file of its target, and its committers. They are
 * computed before the merge check, for the same pair of commits, so that reading them is a query.
 */
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { listCommits } from '../../../git/history/history.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import type { Row, TransactionDb } from '../../../store/database.ts'
import { isOrphan, locksRows } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { lookup, type Lookup } from '../../../store/lookups.ts'
import { transact } from '../../../store/transact.ts'
import { findOwnersFile, ownedIn, ownersOf, usersBehind, type OwnerRule } from '../../repository/code-owners/owners.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import type { Tips } from '../versions/service.ts'

const MOST_COMMITS = 5000
const ROWS_AT_ONCE = 500

interface Ownership {
  readonly head_sha: string | null
  readonly base_sha: string | null
  readonly file_id: string | null
  readonly committers: readonly number[]
  /** More commits exist than were read. */
  readonly overflow: boolean
  readonly rules: readonly OwnerRule[]
}

/** Does nothing until one of the commits or the file changes. `stored`: the stored result, if it was read before. */
export async function refreshOwnership(
  app: App,
  one: MergeRequest,
  tips: Tips,
  stored?: StoredOwnership,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    const known = tries === 1 && stored !== undefined ? stored : await ownershipLookup(one).ask(app.db)
    const found = await findOwnership(app, one, tips, known)
    if (!found) return
    try {
      return await transact(app, async (app) => {
        if (await isStill(app.db, one, tips)) await keepOwnership(app, one, found)
      })
    } catch (error) {
      // A user or group was deleted since it was read.
      if (!isOrphan(error) || tries === 3) throw error
    }
  }
}

/** False if another process has changed the merge request: the result is outdated. */
async function isStill(db: TransactionDb, { id, head_sha, base_sha, target_branch }: MergeRequest, { target }: Tips) {
  const current = await db
    .selectFrom('merge_requests')
    .select(['project_id', 'head_sha', 'base_sha', 'target_branch', 'state'])
    .where('id', '=', id)
    .$if(locksRows(db), (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  if (!current || current.state !== 'opened') return false
  const tip = await db
    .selectFrom('merge_targets')
    .select('sha')
    .where('project_id', '=', current.project_id)
    .where('branch', '=', target_branch)
    .executeTakeFirst()
  const isSame =
    current.head_sha === head_sha && current.base_sha === base_sha && current.target_branch === target_branch
  return isSame && (tip?.sha ?? null) === target
}

const knownOf = hotQuery((db, p: { id: number }) =>
  db.selectFrom('merge_request_ownership').selectAll().where('merge_request_id', '=', p.id),
)

type StoredOwnership = Row<'merge_request_ownership'> | null

export const ownershipLookup = ({ id }: Pick<MergeRequest, 'id'>): Lookup<StoredOwnership> =>
  lookup(knownOf, { id }, ([row]) => row ?? null)

/** Null if the stored result is current. */
async function findOwnership(
  { db }: App,
  one: MergeRequest,
  tips: Tips,
  known: StoredOwnership,
): Promise<Ownership | null> {
  const { head_sha, base_sha } = one
  const { dir, target } = tips
  const file_id = target === null ? null : await findOwnersFile(dir, target)
  if (known && known.head_sha === head_sha && known.base_sha === base_sha && known.file_id === file_id) return null
  const isNothing = head_sha === null || base_sha === null || head_sha === base_sha
  const emails = isNothing ? [] : await emailsIn(dir, head_sha, base_sha)
  const owned = file_id === null || isNothing ? [] : await ownedIn(dir, file_id, { head_sha, base_sha })
  return {
    head_sha,
    base_sha,
    file_id,
    overflow: emails.length >= 2 * MOST_COMMITS,
    committers: [...(await usersBehind(db, emails)).values()],
    rules: await ownersOf(db, owned),
  }
}

/** Author and committer of each commit. */
async function emailsIn(dir: string, head: string, base: string): Promise<string[]> {
  const commits = await listCommits(dir, { from: head, not: [base], limit: MOST_COMMITS })
  return commits.flatMap(({ author, committer }) => [author.email.toLowerCase(), committer.email.toLowerCase()])
}

async function keepOwnership(app: App, { id, project_id }: MergeRequest, found: Ownership): Promise<void> {
  const { db, clock } = app
  const { head_sha, base_sha, file_id, overflow } = found
  const facts = { head_sha, base_sha, file_id, overflow }
  await db
    .insertInto('merge_request_ownership')
    .values({ merge_request_id: id, ...facts })
    .onConflict((c) => c.column('merge_request_id').doUpdateSet(facts))
    .execute()
  await db.deleteFrom('merge_request_committers').where('merge_request_id', '=', id).execute()
  for (const some of batchesOf(found.committers, ROWS_AT_ONCE)) {
    const rows = [...new Set(some)].map((user_id) => ({ merge_request_id: id, user_id }))
    await db
      .insertInto('merge_request_committers')
      .values(rows)
      .onConflict((c) => c.doNothing())
      .execute()
  }
  await db
    .deleteFrom('approval_rules')
    .where('merge_request_id', '=', id)
    .where('rule_type', '=', 'code_owner')
    .execute()
  const now = timestamp(clock)
  for (const some of batchesOf(found.rules, ROWS_AT_ONCE)) {
    const rows = some.map(({ section, name, approvals_required }) => ({
      project_id,
      merge_request_id: id,
      source_rule_id: null,
      rule_type: 'code_owner' as const,
      section,
      name,
      approvals_required,
      created_at: now,
      updated_at: now,
    }))
    const made = await db.insertInto('approval_rules').values(rows).returning(['id', 'section', 'name']).execute()
    const idBy = new Map(made.map((rule) => [`${rule.section}\n${rule.name}`, rule.id]))
    const linked = some.map((rule) => ({ ...rule, rule_id: idBy.get(`${rule.section}\n${rule.name}`)! }))
    const users = linked.flatMap(({ rule_id, users }) => users.map((user_id) => ({ rule_id, user_id })))
    const groups = linked.flatMap(({ rule_id, groups }) => groups.map((group_id) => ({ rule_id, group_id })))
    // A pattern may name the same user or group twice.
    for (const few of batchesOf(users, ROWS_AT_ONCE)) {
      const link = db.insertInto('approval_rule_users').values(few)
      await link.onConflict((c) => c.doNothing()).execute()
    }
    for (const few of batchesOf(groups, ROWS_AT_ONCE)) {
      const link = db.insertInto('approval_rule_groups').values(few)
      await link.onConflict((c) => c.doNothing()).execute()
    }
  }
}
