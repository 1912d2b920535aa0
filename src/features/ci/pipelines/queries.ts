import { z } from 'zod'
import { child, resource } from '../../../api/endpoint.ts'
import { id, text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import type { Db } from '../../../store/database.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { findRepositorySubject } from '../../repository/repositories/queries.ts'
import { presentListedPipeline, presentPipeline, type ListedPipelineRecord, type PipelineRecord } from './entity.ts'
import type { Pipeline } from './model.ts'
import { isArchived } from '../../projects/projects/policy.ts'
import { ciPolicy } from './policy.ts'

/** The resource `/projects/:id` with the policy for pipelines and jobs. */
export const ciProject = resource({
  name: 'Project',
  params: z.object({ id: text }),
  policy: ciPolicy,
  isReadOnly: isArchived,
  find: (app, { id }, viewer) => findRepositorySubject(app, id, viewer),
})

export async function findPipeline(db: Db, project: number, id: number): Promise<Pipeline | null> {
  const found = await db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', project)
    .where('id', '=', id)
    .executeTakeFirst()
  return found ?? null
}

export const pipeline = child(ciProject, {
  key: 'pipeline',
  params: { pipeline_id: id },
  find: (app, { project }, { pipeline_id }) => findPipeline(app.db, project.id, pipeline_id),
})

/** The newest pipeline for the tip of a branch or a tag. */
export async function latestOf(app: App, { project, dir }: RepositorySubject, ref: string): Promise<Pipeline | null> {
  const sha = (await resolveRef(dir, `refs/heads/${ref}`)) ?? (await resolveRef(dir, `refs/tags/${ref}`))
  if (sha === null) return null
  const found = await app.db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', project.id)
    .where('ref', '=', ref)
    .where('sha', '=', sha)
    .where('source', '!=', 'parent_pipeline')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return found ?? null
}

type Location = Pick<RepositorySubject, 'project' | 'namespace'>

export function presentListedPipelines(
  app: App,
  location: Location,
  rows: readonly Pipeline[],
): ListedPipelineRecord[] {
  const url = webUrlOf(app, location)
  return rows.map((row) => presentListedPipeline(row, { url }))
}

export async function presentOnePipeline(app: App, location: Location, row: Pipeline): Promise<PipelineRecord> {
  const [loaded] = await withUsers(app.db, [row], { user: 'user_id' })
  const warning = await app.db
    .selectFrom('ci_jobs')
    .select('id')
    .where('pipeline_id', '=', row.id)
    .where('retried', '=', false)
    .where('allow_failure', '=', true)
    .where('status', 'in', ['failed', 'canceled'])
    .limit(1)
    .executeTakeFirst()
  const whole = { ...loaded!, hasWarnings: warning !== undefined }
  return presentPipeline(whole, { url: webUrlOf(app, location) }, await surroundings(app))
}

/** The variables that a pipeline was created with, sealed. */
export const variableRows = (db: Db, pipeline: number) =>
  db.selectFrom('pipeline_variables').selectAll().where('pipeline_id', '=', pipeline).orderBy('id').execute()
