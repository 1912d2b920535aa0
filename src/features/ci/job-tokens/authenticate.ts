import type { Identity } from '../../../api/credentials.ts'
import type { App } from '../../../context.ts'
import { findUser } from '../../identity/users/queries.ts'
import type { Job } from '../jobs/model.ts'
import { isAlive, isLetIn, jobOfToken } from './queries.ts'

export interface JobBearer extends Identity {
  readonly kind: 'job'
  readonly job: Job
}

export const isJobBearer = (identity: Identity | null): identity is JobBearer => identity?.kind === 'job'

/** Finds the user that the job runs as, with the permissions that this user has at this moment. */
export async function byJobToken(app: App, secret: string): Promise<JobBearer | null> {
  const job = await jobOfToken(app, secret)
  if (!job || !isAlive(job) || job.user_id === null) return null
  const user = await findUser(app.db, job.user_id)
  return user?.state === 'active' ? { kind: 'job', user, scopes: null, job } : null
}

/**
 * A job writes to other projects with the rights of its user. Such a write needs the job's project on the allowlist by
 * name.
 */
export async function jobReaches(app: App, identity: Identity, subject: unknown, isChange: boolean): Promise<boolean> {
  const { project } = (subject ?? {}) as { project?: { id: number } }
  if (!isJobBearer(identity)) return false
  return project === undefined || isLetIn(app.db, { from: identity.job.project_id, to: project.id, byName: isChange })
}
