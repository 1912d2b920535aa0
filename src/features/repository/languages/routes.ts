import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { repository } from '../repositories/queries.ts'
import { languagesIn } from './queries.ts'

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/languages',
  summary: 'Get the languages of a project in percent',
  on: repository,
  allow: 'download',
  by: 'visitor',
  output: z.record(z.string(), z.number()),
  handle: ({ subject }) => languagesIn(subject),
})
