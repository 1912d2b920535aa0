import type { WriteReadme } from '../../../context.ts'
import { loadRepositorySubject } from '../repositories/queries.ts'
import { commitActions } from './service.ts'

/** Creates the first commit of a project with a README, in the name of the project's creator. */
export const writeReadme: WriteReadme = async (app, actor, project, { name, email }) => {
  const subject = await loadRepositorySubject(app, project, actor)
  const content = `# ${project.name}\n${project.description ? `\n${project.description}` : ''}`
  await commitActions(app, actor, subject, {
    branch: project.default_branch,
    commit_message: 'Initial commit',
    author_name: name,
    author_email: email,
    actions: [{ action: 'create', file_path: 'README.md', content }],
  })
}
