import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { repository } from '../repositories/queries.ts'
import { languagesIn } from './queries.ts'

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/languages',
  summary: 'Tell which languages a project is written in, in per cent',
  on: repository,
  allow: 'download',
  guest: true,
  output: z.record(z.string(), z.number()),
  handle: ({ subject }) => languagesIn(subject),
})
