/**
 * Who owns what a merge request changes, as the `CODEOWNERS` of its target says, and whose commits it brings. Found
 * before the merge check, for the same pair of commits, so that asking is reading rows.
 */
import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { changedPaths } from '../../../git/history/changed-paths.ts'
import { listCommits } from '../../../git/history/history.ts'
import { readKnown, readStart } from '../../../git/objects/objects.ts'
import { textOf } from '../../../git/objects/texts.ts'
import { entryAt, isFile } from '../../../git/objects/trees.ts'
import { batchesOf } from '../../../lib/batches.ts'
import {
  LONGEST_FILE,
  OwnerMatching,
  TooManySteps,
  parseCodeOwners,
  type Owned,
  type OwnerSection,
} from '../../../lib/code-owners.ts'
import { pauses } from '../../../lib/pauses.ts'
import type { Db } from '../../../store/database.ts'
import { isOrphan, locksRows, textsIn } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { transact } from '../../../store/transact.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import type { Tips } from '../versions/service.ts'

/** The first that is there counts. */
const PLACES = ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS']

const MOST_PATHS = 10_000
const MOST_COMMITS = 5000
const ROWS_AT_ONCE = 500

interface OwnerRule {
  readonly section: string
  readonly name: string
  readonly approvals_required: number
  readonly users: readonly number[]
  readonly groups: readonly number[]
}

interface Ownership {
  readonly head_sha: string | null
  readonly base_sha: string | null
  readonly file_id: string | null
  readonly committers: readonly number[]
  /** There are more commits than were looked at. */
  readonly overflow: boolean
  readonly rules: readonly OwnerRule[]
}

/** Once it has been found, nothing is left to do until one of the commits or the file is another. */
export async function refreshOwnership(app: App, one: MergeRequest, tips: Tips): Promise<void> {
  for (let tries = 1; ; tries++) {
    const found = await findOwnership(app, one, tips)
    if (!found) return
    try {
      return await transact(app, async (app) => {
        if (await isStill(app.db, one, tips)) await keepOwnership(app, one, found)
      })
    } catch (error) {
      // Somebody whom it names has gone since they were found.
      if (!isOrphan(error) || tries === 3) throw error
    }
  }
}

/** Whoever was overtaken has found what is not true any more. */
async function isStill(db: Db, { id, head_sha, base_sha, target_branch }: MergeRequest, { target }: Tips) {
  const held = await db
    .selectFrom('merge_requests')
    .select(['project_id', 'head_sha', 'base_sha', 'target_branch', 'state'])
    .where('id', '=', id)
    .$if(locksRows(db), (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  if (!held || held.state !== 'opened') return false
  const tip = await db
    .selectFrom('merge_targets')
    .select('sha')
    .where('project_id', '=', held.project_id)
    .where('branch', '=', target_branch)
    .executeTakeFirst()
  const isSame = held.head_sha === head_sha && held.base_sha === base_sha && held.target_branch === target_branch
  return isSame && (tip?.sha ?? null) === target
}

const knownOf = hotQuery((db, p: { id: number }) =>
  db.selectFrom('merge_request_ownership').selectAll().where('merge_request_id', '=', p.id),
)

/** Null where what is known is true. */
async function findOwnership({ db }: App, one: MergeRequest, tips: Tips): Promise<Ownership | null> {
  const { head_sha, base_sha } = one
  const { dir, target } = tips
  const file_id = target === null ? null : await findFile(dir, target)
  const [known] = await knownOf(db, { id: one.id })
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
    rules: await rulesOf(db, owned),
  }
}

async function findFile(dir: string, target: string): Promise<string | null> {
  for (const path of PLACES) {
    const entry = await entryAt(dir, target, path)
    if (entry && isFile(entry)) return entry.id
  }
  return null
}

/** Two of each commit. */
async function emailsIn(dir: string, head: string, base: string): Promise<string[]> {
  const commits = await listCommits(dir, { from: head, not: [base], limit: MOST_COMMITS })
  return commits.flatMap(({ author, committer }) => [author.email.toLowerCase(), committer.email.toLowerCase()])
}

async function textIn(dir: string, blob: string): Promise<string> {
  const [file] = await readKnown(dir, [blob], { maxBytes: LONGEST_FILE })
  return file ? textOf(file.content ?? (await readStart(dir, file, LONGEST_FILE))) : ''
}

async function ownedIn(
  dir: string,
  blob: string,
  { head_sha, base_sha }: { head_sha: string; base_sha: string },
): Promise<Owned[]> {
  const sections = parseCodeOwners(await textIn(dir, blob))
  if (sections.length === 0) return []
  const paths = await changedPaths(dir, base_sha, head_sha, MOST_PATHS)
  // Of what cannot be looked at file by file, everybody is asked.
  if (paths === null) return allOf(sections)
  const matching = new OwnerMatching(sections)
  const found = new Set<Owned['pattern']>()
  const pause = pauses()
  try {
    for (const path of paths) {
      for (const { pattern } of matching.of(path)) found.add(pattern)
      await pause()
    }
  } catch (error) {
    if (error instanceof TooManySteps) return allOf(sections)
    throw error
  }
  return allOf(sections).filter(({ pattern }) => found.has(pattern))
}

const allOf = (sections: readonly OwnerSection[]): Owned[] =>
  sections.flatMap((section) =>
    section.patterns.filter(({ owners }) => owners.length > 0).map((pattern) => ({ section, pattern })),
  )

async function rulesOf(db: Db, owned: readonly Owned[]): Promise<OwnerRule[]> {
  if (owned.length === 0) return []
  const words = [...new Set(owned.flatMap(({ pattern }) => pattern.owners.map((owner) => owner.toLowerCase())))]
  const names = words.filter((word) => word.startsWith('@')).map((word) => word.slice(1))
  const emails = await usersBehind(
    db,
    words.filter((word) => !word.startsWith('@')),
    { confirmed: true },
  )
  const json = JSON.stringify(names)
  const users = await db
    .selectFrom('users')
    .select(['id', sql<string>`lower(username)`.as('name')])
    .where(sql<boolean>`lower(username) in (${textsIn(db, json)})`)
    .execute()
  const groups = await db
    .selectFrom('namespaces')
    .select(['id', sql<string>`lower(full_path)`.as('name')])
    .where('kind', '=', 'group')
    .where(sql<boolean>`lower(full_path) in (${textsIn(db, json)})`)
    .execute()
  const userBy = new Map([...users.map(({ id, name }) => [`@${name}`, id] as const), ...emails])
  const groupBy = new Map(groups.map(({ id, name }) => [`@${name}`, id]))
  const idsIn = (owners: readonly string[], known: ReadonlyMap<string, number>) => [
    ...new Set(owners.flatMap((owner) => known.get(owner.toLowerCase()) ?? [])),
  ]
  return owned.map(({ section, pattern }) => ({
    section: section.name,
    name: pattern.pattern,
    approvals_required: section.optional ? 0 : section.approvals,
    users: idsIn(pattern.owners, userBy),
    groups: idsIn(pattern.owners, groupBy),
  }))
}

/** By address in lower case. An address that nobody confirmed makes nobody an owner, but leaves its commits theirs. */
async function usersBehind(
  db: Db,
  emails: readonly string[],
  { confirmed = false } = {},
): Promise<Map<string, number>> {
  const wanted = [...new Set(emails)]
  if (wanted.length === 0) return new Map()
  const among = sql<boolean>`email in (${textsIn(db, JSON.stringify(wanted))})`
  const rows = await db
    .selectFrom('users')
    .select(['id', 'email'])
    .where(among)
    .$if(confirmed, (query) => query.where('confirmed_at', 'is not', null))
    .unionAll(
      db
        .selectFrom('emails')
        .select(['user_id as id', 'email'])
        .where(among)
        .$if(confirmed, (query) => query.where('confirmed_at', 'is not', null)),
    )
    .execute()
  return new Map(rows.map(({ id, email }) => [email.toLowerCase(), id]))
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
    // A pattern may stand there twice.
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
