/** Deployments that external tools report. No job of this server created them. */
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, forbidden, invalid, notFound } from '../../../errors.ts'
import { findCommit } from '../../../git/objects/commits.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { transact } from '../../../store/transact.ts'
import { nextIid, transactNumbered } from '../../planning/iids.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { wholeRef } from '../pipelines/create.ts'
import { mayRunOn } from '../pipelines/rights.ts'
import { announceDeployment } from './deployments.ts'
import { ensureEnvironment, isEnvironmentName } from './making.ts'
import type { Deployment } from './model.ts'
import { lastDeploymentOf } from './queries.ts'

export const REPORTED = ['running', 'success', 'failed', 'canceled'] as const
export type Reported = (typeof REPORTED)[number]

export interface DeploymentInput {
  environment: string
  sha: string
  ref: string
  tag: boolean
  status: Reported
}

export async function createDeployment(
  app: App,
  actor: User,
  subject: RepositorySubject,
  input: DeploymentInput,
): Promise<Deployment> {
  const { project, dir } = subject
  const { ref, tag, status } = input
  if (!isEnvironmentName(input.environment)) throw invalid({ environment: ['is invalid'] })
  if (!/^[0-9a-f]{40}$/.test(input.sha) || !(await findCommit(dir, input.sha))) {
    throw invalid({ sha: ['The commit does not exist'] })
  }
  if (ref.startsWith('refs/') || !(await resolveRef(dir, wholeRef(ref, tag)))) {
    throw invalid({ ref: ['The branch or tag does not exist'] })
  }
  if (!(await mayRunOn(app, subject, { ref, tag }))) throw forbidden()
  const now = timestamp(app.clock)
  const { id: project_id } = project
  return transactNumbered(app, { project_id }, 'deployments', async (app) => {
    const environment = await ensureEnvironment(app, project_id, input.environment)
    const made = await app.db
      .insertInto('deployments')
      .values({
        project_id,
        iid: await nextIid(app.db, { project_id }, 'deployments'),
        environment_id: environment.id,
        job_id: null,
        user_id: actor.id,
        ref,
        tag,
        sha: input.sha,
        status,
        on_stop: null,
        finished_at: status === 'running' ? null : now,
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    if (status === 'success') await open(app, made)
    await announceDeployment(app, made)
    return made
  })
}

async function open({ db, clock }: App, { environment_id }: Deployment): Promise<void> {
  await db
    .updateTable('environments')
    .set({ state: 'available', updated_at: timestamp(clock) })
    .where('id', '=', environment_id)
    .execute()
}

/** A finished deployment does not change any more. */
export async function updateDeployment(
  app: App,
  subject: RepositorySubject,
  deployment: Deployment,
  status: Reported,
): Promise<Deployment> {
  if (deployment.job_id !== null) throw forbidden('The status of this deployment follows its job')
  if (!(await mayRunOn(app, subject, deployment))) throw forbidden()
  const now = timestamp(app.clock)
  return transact(app, async (app) => {
    const updated = await app.db
      .updateTable('deployments')
      .set({ status, updated_at: now, finished_at: status === 'running' ? null : now })
      .where('id', '=', deployment.id)
      .where('status', 'in', ['created', 'running', 'blocked'])
      .returningAll()
      .executeTakeFirst()
    if (!updated) throw invalid({ status: [`Cannot transition status from ${deployment.status} to ${status}`] })
    if (status === 'success') await open(app, updated)
    await announceDeployment(app, updated)
    return updated
  })
}

export async function deleteDeployment(app: App, { id, status, environment_id }: Deployment): Promise<void> {
  if (status === 'running') throw new Refusal('bad_request', 'Cannot destroy running deployment')
  const last = await lastDeploymentOf(app.db, environment_id)
  if (last?.id === id) throw new Refusal('bad_request', 'Deployment currently deployed to environment')
  const { numDeletedRows } = await app.db.deleteFrom('deployments').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound() // a concurrent request deleted the row
}
