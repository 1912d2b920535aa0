import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { project } from '../projects/queries.ts'
import { startHousekeeping } from './service.ts'

export const start = endpoint({
  method: 'POST',
  path: '/projects/:id/housekeeping',
  summary: 'Run housekeeping on the repository of a project, at most once a day',
  on: project,
  allow: 'administer',
  whileReadOnly: true,
  output: z.null(),
  async handle({ app, subject }) {
    await startHousekeeping(app, subject.project)
    return null
  },
})
