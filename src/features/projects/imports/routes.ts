import { endpoint } from '../../../api/endpoint.ts'
import { addresses, loadProjects } from '../projects/load.ts'
import { projectPolicy } from '../projects/policy.ts'
import { project } from '../projects/queries.ts'
import { ImportEntity, presentImport } from './entity.ts'
import { cancelImport } from './service.ts'

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/import',
  summary: 'Get the import status of a project',
  on: project,
  allow: 'read',
  output: ImportEntity,
  async handle({ app, subject }) {
    const [loaded] = await loadProjects(app.db, subject.viewer, [subject.project])
    return presentImport(loaded!, addresses(app), projectPolicy.administer(subject))
  },
})

export const cancel = endpoint({
  method: 'DELETE',
  path: '/projects/:id/import',
  summary: 'Cancel the import of a project; the empty project is kept',
  on: project,
  allow: 'administer',
  output: null,
  async handle({ app, subject }) {
    await cancelImport(app, subject.project)
  },
})
