/** The owners of files, read from `CODEOWNERS`. */
import { sql } from 'kysely'
import { changedPaths } from '../../../git/history/changed-paths.ts'
import { readKnown, readStart } from '../../../git/objects/objects.ts'
import { textOf } from '../../../git/objects/texts.ts'
import { entryAt, isFile } from '../../../git/objects/trees.ts'
import { LONGEST_FILE, OwnerMatching, TooManySteps, parseCodeOwners, type Owned, type OwnerSection } from './parsing.ts'
import { pauses } from '../../../lib/async/pauses.ts'
import type { Db } from '../../../store/database.ts'
import { textsIn } from '../../../store/dialect.ts'

/** The first file that exists wins. */
const PATHS = ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS']

const MOST_PATHS = 10_000

export interface OwnerRule {
  readonly section: string
  readonly name: string
  readonly approvals_required: number
  readonly users: readonly number[]
  readonly groups: readonly number[]
}

/** Finds the file in the tree of a commit, or null. */
export async function findOwnersFile(dir: string, target: string): Promise<string | null> {
  for (const path of PATHS) {
    const entry = await entryAt(dir, target, path)
    if (entry && isFile(entry)) return entry.id
  }
  return null
}

async function textIn(dir: string, blob: string): Promise<string> {
  const [file] = await readKnown(dir, [blob], { maxBytes: LONGEST_FILE })
  return file ? textOf(file.content ?? (await readStart(dir, file, LONGEST_FILE))) : ''
}

/** The owner rules of all files that differ between two commits. */
export async function ownedIn(
  dir: string,
  blob: string,
  { head_sha, base_sha }: { head_sha: string; base_sha: string },
  options: { environment?: Readonly<Record<string, string>> | undefined } = {},
): Promise<Owned[]> {
  const sections = parseCodeOwners(await textIn(dir, blob))
  if (sections.length === 0) return []
  const paths = await changedPaths(dir, base_sha, head_sha, MOST_PATHS, options)
  // If the changed files cannot be listed, all owners are required.
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

export async function ownersOf(db: Db, owned: readonly Owned[]): Promise<OwnerRule[]> {
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

/**
 * Users by email address in lower case. With `confirmed`, an unconfirmed address makes no user an owner. Without it,
 * commits belong to the user of an unconfirmed address, too.
 */
export async function usersBehind(
  db: Db,
  emails: readonly string[],
  { confirmed = false } = {},
): Promise<Map<string, number>> {
  const addresses = [...new Set(emails)]
  if (addresses.length === 0) return new Map()
  const among = sql<boolean>`email in (${textsIn(db, JSON.stringify(addresses))})`
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
