/** A version's commits are kept as long as its merge request is there; afterwards only by what else needs them. */
import { job, type App } from '../../../context.ts'
import { dropRef, keepCommit, keepRef } from '../../../git/refs/pointing.ts'
import { enqueueAll } from '../../../jobs/queue.ts'
import { inTextList, textList } from '../../../store/dialect.ts'
import { pruneSoon } from '../../projects/housekeeping/jobs.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/projects/repository.ts'
import type { MergeRequest } from '../merge-requests/model.ts'

interface Released {
  readonly project_id: number
  readonly shas: readonly string[]
  /** They came from another project, which not everyone here may read. */
  readonly fromFork: boolean
}

/** More are not released by one job. */
const MOST_AT_ONCE = 500

/** In the transaction that deletes it, before it does. */
export async function releaseVersions(app: App, { id, project_id, source_project_id }: MergeRequest): Promise<void> {
  const rows = await app.db
    .selectFrom('merge_request_versions')
    .select(['head_sha', 'start_sha'])
    .where('merge_request_id', '=', id)
    .execute()
  const shas = [...new Set(rows.flatMap(({ head_sha, start_sha }) => [head_sha, start_sha]))].filter(
    (sha) => sha !== null,
  )
  const fromFork = source_project_id !== project_id
  const payloads = Array.from({ length: Math.ceil(shas.length / MOST_AT_ONCE) }, (_, turn) => ({
    project_id,
    shas: shas.slice(turn * MOST_AT_ONCE, (turn + 1) * MOST_AT_ONCE),
    fromFork,
  }))
  await enqueueAll(app, releaseCommits, payloads)
}

export const releaseCommits = job<Released>('merge_requests.release_commits', async (app, released) => {
  const project = await findProjectById(app.db, released.project_id)
  if (!project) return
  const dir = repositoryDir(app, project)
  const needed = await neededOf(app, released)
  const dropped = released.shas.filter((sha) => !needed.has(sha))
  for (const sha of dropped) await dropRef(dir, keepRef(sha))
  // A version that came meanwhile found it kept.
  const neededNow = await neededOf(app, { ...released, shas: dropped })
  for (const sha of neededNow) await keepCommit(dir, sha)
  if (released.fromFork) await pruneSoon(app, project)
})

/** Those that another version or a pipeline of the project names. */
async function neededOf({ db }: App, { project_id, shas }: Released): Promise<Set<string>> {
  const list = textList(db, shas)
  const endsOf = (column: 'head_sha' | 'start_sha') =>
    db
      .selectFrom('merge_request_versions as v')
      .innerJoin('merge_requests as m', 'm.id', 'v.merge_request_id')
      .select(`v.${column} as sha`)
      .where('m.project_id', '=', project_id)
      .where(inTextList(db, `v.${column}`, list))
  const rows = await endsOf('head_sha')
    .union(endsOf('start_sha'))
    .union(
      db
        .selectFrom('pipelines')
        .select('sha')
        .where('project_id', '=', project_id)
        .where(inTextList(db, 'sha', list)),
    )
    .execute()
  return new Set(rows.flatMap(({ sha }) => sha ?? []))
}
