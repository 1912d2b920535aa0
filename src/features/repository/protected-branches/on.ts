import { on } from '../../../context.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { protectDefaultBranch } from './service.ts'

/** The first branches of a fork or an import do not arrive by a push. */
export const protectFilled = on('project.filled', 'default branch', async (app, { id }) => {
  const project = await findProjectById(app.db, id)
  if (project && !project.empty_repo) await protectDefaultBranch(app, project, project.default_branch)
})
