import { tokenCredential } from '../../../api/credentials.ts'
import { text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, unauthenticated } from '../../../errors.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProject, type Project } from '../../projects/projects/queries.ts'
import { isAlive, isLetIn, jobOfToken } from '../job-tokens/queries.ts'
import { JOB_TOKEN_PREFIX } from '../jobs/tokens.ts'
import { findUsableTrigger } from './queries.ts'

/** Starts pipelines of a project: as the owner of the trigger, or as the user of the job whose token it is. */
export const triggerToken = tokenCredential({
  name: 'trigger_token',
  callers: 'Anyone with a trigger token of the project, or with the token of a running job.',
  params: { id: text, token: text },
  refusals: [401, 404],
  async find(app, token, { id }) {
    const project = await findProject(app.db, id)
    // Only callers with a valid token learn whether the project exists.
    if (!project) throw unknown()
    return { project, ...(await (token.startsWith(JOB_TOKEN_PREFIX) ? ofJob : ofTrigger)(app, project, token)) }
  },
})

const unknown = () => new Refusal('not_found', '404 Not Found')

interface Starter {
  readonly actor: User | null
  readonly source: 'trigger' | 'pipeline'
  readonly trigger_id?: number
}

async function ofTrigger(app: App, project: Project, token: string): Promise<Starter> {
  const trigger = await findUsableTrigger(app, project.id, token)
  if (!trigger) throw unknown()
  const actor = trigger.owner_id === null ? null : await findUser(app.db, trigger.owner_id)
  return { actor, source: 'trigger', trigger_id: trigger.id }
}

async function ofJob(app: App, project: Project, token: string): Promise<Starter> {
  const job = await jobOfToken(app, token)
  // Starting a pipeline is a write, so it needs an allowlist entry; see `jobReaches`.
  if (!job || !(await isLetIn(app.db, { from: job.project_id, to: project.id, byName: true }))) throw unknown()
  if (!isAlive(job)) throw unauthenticated()
  return { actor: job.user_id === null ? null : await findUser(app.db, job.user_id), source: 'pipeline' }
}
