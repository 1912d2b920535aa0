import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { bringCommit } from '../../../git/storage/copy.ts'
import { inTextList, textList } from '../../../store/dialect.ts'
import { findProjectById, type Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { changesCount, measure, type Measured } from './measure.ts'
import type { Version } from './model.ts'
import { keepCommit } from '../../../git/refs/pointing.ts'

const branchRef = (name: string) => `refs/heads/${name}`

/** The current tips of both branches of a merge request. */
export interface Tips {
  /** The directory of the target's repository. */
  readonly dir: string
  readonly source: string | null
  readonly target: string | null
}

export const targetTip = (dir: string, branch: string): Promise<string | null> => resolveRef(dir, branchRef(branch))

export async function findTips(
  app: App,
  target: Project,
  one: Pick<MergeRequest, 'source_project_id' | 'source_branch' | 'target_branch'>,
): Promise<Tips> {
  const dir = repositoryDir(app, target)
  const from = one.source_project_id === target.id ? target : await sourceOf(app, one)
  const [source, tip] = await Promise.all([
    from ? resolveRef(repositoryDir(app, from), branchRef(one.source_branch)) : null,
    targetTip(dir, one.target_branch),
  ])
  return { dir, source, target: tip }
}

/** Tips of many merge requests with one target branch. */
export async function findTipsOf(
  app: App,
  target: Project,
  branch: string,
  some: readonly MergeRequest[],
): Promise<{ one: MergeRequest; tips: Tips }[]> {
  const dir = repositoryDir(app, target)
  const tip = await targetTip(dir, branch)
  const dirs = new Map<number, string | null>([[target.id, dir]])
  const dirOf = async (one: MergeRequest) => {
    const id = one.source_project_id
    if (id === null) return null
    if (!dirs.has(id)) {
      const from = await sourceOf(app, one)
      dirs.set(id, from ? repositoryDir(app, from) : null)
    }
    return dirs.get(id)!
  }
  const found = []
  for (const one of some) {
    const sourceDir = await dirOf(one)
    const source = sourceDir === null ? null : await resolveRef(sourceDir, branchRef(one.source_branch))
    found.push({ one, tips: { dir, source, target: tip } })
  }
  return found
}

const sourceOf = (app: App, { source_project_id }: Pick<MergeRequest, 'source_project_id'>) =>
  source_project_id === null ? null : findProjectById(app.db, source_project_id)

/** Fetches the commits into the target's repository and keeps them. Then measures the changes. */
export async function takeIn(
  app: App,
  target: Project,
  one: Pick<MergeRequest, 'source_project_id'>,
  { dir, source, target: tip }: Tips & { readonly source: string },
): Promise<Measured> {
  if (one.source_project_id !== target.id) {
    const from = await sourceOf(app, one)
    if (from) await bringCommit(repositoryDir(app, from), dir, source)
  }
  await keepEnds(dir, source, tip)
  return measure(dir, source, tip)
}

/** Keeps both ends, because the diff is read as long as the version exists. */
export async function keepEnds(dir: string, head: string, start: string | null): Promise<void> {
  await Promise.all([keepCommit(dir, head), start === null || start === head ? null : keepCommit(dir, start)])
}

/** The columns of the merge request that come from its newest version. */
export const versionColumns = (measured: Measured) => ({
  head_sha: measured.head_sha,
  base_sha: measured.base_sha,
  start_sha: measured.start_sha,
  changes_count: changesCount(measured),
})

export async function addVersion(app: TransactionApp, mergeRequest: number, measured: Measured): Promise<Version> {
  const { commits, ...columns } = measured
  await noteCommits(app, mergeRequest, commits)
  return app.db
    .insertInto('merge_request_versions')
    .values({ merge_request_id: mergeRequest, ...columns, created_at: timestamp(app.clock) })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Most pushes only add a few commits. */
async function noteCommits({ db }: App, merge_request_id: number, commits: readonly string[]): Promise<void> {
  const rows = await db
    .selectFrom('merge_request_commits')
    .select('sha')
    .where('merge_request_id', '=', merge_request_id)
    .execute()
  const [known, current] = [new Set(rows.map(({ sha }) => sha)), new Set(commits)]
  const gone = [...known].filter((sha) => !current.has(sha))
  if (gone.length > 0) {
    await db
      .deleteFrom('merge_request_commits')
      .where('merge_request_id', '=', merge_request_id)
      .where(inTextList(db, 'sha', textList(db, gone)))
      .execute()
  }
  const added = [...current].filter((sha) => !known.has(sha)).map((sha) => ({ merge_request_id, sha }))
  if (added.length > 0) await db.insertInto('merge_request_commits').values(added).execute()
}
