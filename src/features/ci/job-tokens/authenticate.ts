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

/** Whoever the job runs as, with what they may do at this moment. */
export async function byJobToken(app: App, secret: string): Promise<JobBearer | null> {
  const job = await jobOfToken(app, secret)
  if (!job || !isAlive(job) || job.user_id === null) return null
  const user = await findUser(app.db, job.user_id)
  return user?.state === 'active' ? { kind: 'job', user, scopes: null, job } : null
}

/** Whatever a job changes elsewhere it does with a person's rights: only where its project is let in by name. */
export async function jobReaches(app: App, identity: Identity, subject: unknown, isChange: boolean): Promise<boolean> {
  const { project } = (subject ?? {}) as { project?: { id: number } }
  if (!isJobBearer(identity)) return false
  return project === undefined || isLetIn(app.db, { from: identity.job.project_id, to: project.id, byName: isChange })
}
