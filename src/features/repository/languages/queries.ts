import { findCommit } from '../../../git/objects/commits.ts'
import { Memory } from '../../../git/objects/memory.ts'
import { eachFileSize } from '../../../git/objects/sizes.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { languageOf, sharesOf } from '../../../lib/text/languages.ts'
import type { Db } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import type { RepositorySubject } from '../repositories/policy.ts'

type Shares = Readonly<Record<string, number>>

const remembered = new Memory<Shares>('languages of commits', (shares) => 40 * Object.keys(shares).length)

/** The languages at the default branch. Empty without a commit. */
export const languagesIn = async ({ project, dir }: RepositorySubject): Promise<Shares> =>
  (await languagesAt(dir, project.default_branch))?.shares ?? {}

export async function languagesAt(dir: string, branch: string): Promise<{ tree: string; shares: Shares } | null> {
  if (!branch || !(await repositoryExists(dir))) return null
  const commit = await findCommit(dir, `refs/heads/${branch}`)
  if (!commit) return null
  const { tree } = commit
  return { tree, shares: await remembered.recall(dir, tree, () => countLanguages(dir, tree)) }
}

const AT_ONCE = 100

/** Projects whose languages are not stored yet. */
export const listUncounted = (db: Db, after: number): Promise<{ id: number }[]> =>
  db
    .selectFrom('projects as p')
    .leftJoin('project_language_trees as t', 't.project_id', 'p.id')
    .select('p.id')
    .where('t.tree', 'is', null)
    .where('p.empty_repo', '=', false)
    .where('p.deleting', '=', false)
    .where('p.id', '>', after)
    .orderBy('p.id')
    .limit(AT_ONCE)
    .execute()

const kept = hotQuery((db, p: { id: number }) =>
  db
    .selectFrom('project_languages')
    .select('name')
    .where('project_id', '=', p.id)
    .orderBy('share', 'desc')
    .orderBy('name'),
)

/** The languages after the last push, largest share first. */
export const storedLanguages = async (db: Db, project: number): Promise<string[]> =>
  (await kept(db, { id: project })).map(({ name }) => name)

async function countLanguages(dir: string, tree: string): Promise<Shares> {
  const sizes = new Map<string, number>()
  await eachFileSize(dir, tree, (path, size) => {
    const language = languageOf(path)
    if (language !== null) sizes.set(language, (sizes.get(language) ?? 0) + size)
  })
  return sharesOf(sizes)
}
