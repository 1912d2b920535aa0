import { job } from '../../../context.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryPolicy } from '../repositories/policy.ts'
import { loadRepositorySubject } from '../repositories/queries.ts'
import { deleteMergedBranches } from './service.ts'

/** Every reader may call the endpoint; this job checks the permission. */
export const deleteMergedLater = job<{ project_id: number; by: number }>(
  'branches.delete_merged',
  async (app, { project_id, by }) => {
    const project = await findProjectById(app.db, project_id)
    const actor = await findUser(app.db, by)
    if (!project || !actor) return
    const subject = await loadRepositorySubject(app, project, actor)
    if (!repositoryPolicy.push(subject) || !(await repositoryExists(subject.dir))) return
    await deleteMergedBranches(app, actor, subject)
  },
  { long: true },
)
