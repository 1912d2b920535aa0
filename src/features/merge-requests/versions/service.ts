import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { bringCommit } from '../../../git/storage/copy.ts'
import { findProjectById, type Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/projects/repository.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { changesCount, measure, type Measured } from './measure.ts'
import type { Version } from './model.ts'
import { keepCommit } from './refs.ts'

const branchRef = (name: string) => `refs/heads/${name}`

/** The two branches of a merge request as they stand. */
export interface Tips {
  /** Where the target's repository lies. */
  readonly dir: string
  readonly source: string | null
  readonly target: string | null
}

export async function findTips(
  app: App,
  target: Project,
  one: Pick<MergeRequest, 'source_project_id' | 'source_branch' | 'target_branch'>,
): Promise<Tips> {
  const dir = repositoryDir(app, target)
  const from = one.source_project_id === target.id ? target : await sourceOf(app, one)
  const [source, tip] = await Promise.all([
    from ? resolveRef(repositoryDir(app, from), branchRef(one.source_branch)) : null,
    resolveRef(dir, branchRef(one.target_branch)),
  ])
  return { dir, source, target: tip }
}

const sourceOf = (app: App, { source_project_id }: Pick<MergeRequest, 'source_project_id'>) =>
  source_project_id === null ? null : findProjectById(app.db, source_project_id)

/** Its commits come to the target's repository, to stay; then what they bring is measured. */
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
  await keepCommit(dir, source)
  return measure(dir, source, tip)
}

/** What its record tells of the newest version. */
export const versionColumns = (measured: Measured) => ({
  head_sha: measured.head_sha,
  base_sha: measured.base_sha,
  start_sha: measured.start_sha,
  changes_count: changesCount(measured),
})

/** In the transaction that makes it the newest. */
export async function addVersion({ db, clock }: App, mergeRequest: number, measured: Measured): Promise<Version> {
  return db
    .insertInto('merge_request_versions')
    .values({ merge_request_id: mergeRequest, ...measured, created_at: timestamp(clock) })
    .returningAll()
    .executeTakeFirstOrThrow()
}
