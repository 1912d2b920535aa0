import type { z } from 'zod'
import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { isWithin } from '../../../store/dialect.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { rowsById } from '../../../store/rows.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { presentSimpleProject } from '../../projects/projects/entity.ts'
import { addresses, loadProjects } from '../../projects/projects/load.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { presentJobs } from '../jobs/queries.ts'
import { ciProject } from '../pipelines/queries.ts'
import {
  presentDeployment,
  presentListedEnvironment,
  type DeploymentRecord,
  type EnvironmentEntity,
  type ListedEnvironmentEntity,
} from './entity.ts'
import type { Deployment, Environment, STATES } from './model.ts'
import { environmentPolicy } from './policy.ts'

/** The resource `/projects/:id` with the policy for environments and deployments. */
export const deployedProject = { ...ciProject, policy: environmentPolicy }

const environmentsOf = (db: Db, project: number) =>
  db.selectFrom('environments').selectAll().where('project_id', '=', project)

export const environment = child(deployedProject, {
  key: 'environment',
  params: { environment_id: id },
  find: (app, { project }, { environment_id }) =>
    environmentsOf(app.db, project.id).where('id', '=', environment_id).executeTakeFirst(),
})

export const deployment = child(deployedProject, {
  key: 'deployment',
  params: { deployment_id: id },
  find: (app, { project }, { deployment_id }) =>
    app.db
      .selectFrom('deployments')
      .selectAll()
      .where('project_id', '=', project.id)
      .where('id', '=', deployment_id)
      .executeTakeFirst(),
})

export interface EnvironmentFilter {
  readonly name?: string | null | undefined
  readonly search?: string | null | undefined
  readonly states?: (typeof STATES)[number] | null | undefined
}

export function listEnvironments(
  db: Db,
  project: number,
  { name, search, states }: EnvironmentFilter,
  page: PageRequest,
): Promise<Page<Environment>> {
  return pageOfQuery(
    environmentsOf(db, project)
      .$if(Boolean(name), (query) => query.where('name', '=', name!))
      .$if(Boolean(search), (query) => query.where(isWithin(db, 'name', search!)))
      .$if(Boolean(states), (query) => query.where('state', '=', states!))
      .orderBy('name'),
    page,
  )
}

export async function findEnvironmentByName(db: Db, project: number, name: string): Promise<Environment | null> {
  return (await environmentsOf(db, project).where('name', '=', name).executeTakeFirst()) ?? null
}

/** The newest successful deployment: the one that is live now. */
export async function lastDeploymentOf(db: Db, environment: number): Promise<Deployment | null> {
  const found = await db
    .selectFrom('deployments')
    .selectAll()
    .where('environment_id', '=', environment)
    .where('status', '=', 'success')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return found ?? null
}

export async function presentEnvironments(
  app: App,
  { project, viewer }: RepositorySubject,
  rows: readonly Environment[],
): Promise<z.infer<typeof ListedEnvironmentEntity>[]> {
  if (rows.length === 0) return []
  const [loaded] = await loadProjects(app.db, viewer, [project])
  const shown = presentSimpleProject(loaded!, addresses(app))
  return rows.map((row) => presentListedEnvironment(row, shown))
}

export async function presentOneEnvironment(
  app: App,
  subject: RepositorySubject,
  row: Environment,
): Promise<z.infer<typeof EnvironmentEntity>> {
  const [[listed], last] = await Promise.all([
    presentEnvironments(app, subject, [row]),
    lastDeploymentOf(app.db, row.id),
  ])
  const [shown] = await presentDeployments(app, subject, last ? [last] : [])
  return { ...listed!, last_deployment: shown ?? null }
}

/** Loads the records of a page with a fixed number of queries. */
export async function presentDeployments(
  app: App,
  subject: RepositorySubject,
  rows: readonly Deployment[],
): Promise<DeploymentRecord[]> {
  if (rows.length === 0) return []
  const [loaded, around, environments, jobs] = await Promise.all([
    withUsers(app.db, rows, { user: 'user_id' }),
    surroundings(app),
    rowsById(
      app.db,
      'environments',
      rows.map(({ environment_id }) => environment_id),
    ),
    rowsById(
      app.db,
      'ci_jobs',
      rows.flatMap(({ job_id }) => job_id ?? []),
    ),
  ])
  const records = new Map((await presentJobs(app, subject, [...jobs.values()])).map((job) => [job.id, job]))
  return loaded.flatMap((row) => {
    const environment = environments.get(row.environment_id)
    if (!environment) return [] // the environment was deleted meanwhile
    const deployable = row.job_id === null ? null : (records.get(row.job_id) ?? null)
    return presentDeployment({ ...row, environment, deployable }, around)
  })
}

export const presentOneDeployment = async (app: App, subject: RepositorySubject, row: Deployment) =>
  (await presentDeployments(app, subject, [row]))[0]!
