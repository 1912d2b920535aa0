import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { blankable, entity, moment, text } from '../../../api/wire.ts'
import { repository } from '../repositories/queries.ts'
import { addToChangelog, changelogOf } from './service.ts'
import { parseVersion } from './versions.ts'

const range = {
  version: text.refine((version) => parseVersion(version) !== null),
  from: text.nullish(),
  to: text.nullish(),
  date: blankable(moment),
  trailer: text.pipe(z.string().regex(/^[\w-]{0,100}$/)).nullish(),
}

/** All changelogs have one fixed layout, so these parameters are rejected. */
const refuses = ['config_file', 'config_file_ref']

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/changelog',
  summary: 'Get what commits tell of a version',
  on: repository,
  allow: 'download',
  by: ['visitor', 'job'],
  input: z.object(range),
  refuses,
  output: entity({ notes: z.string() }).meta({ id: 'Changelog' }),
  handle: async ({ app, subject, input }) => ({ notes: await changelogOf(app, subject, input) }),
})

export const add = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/changelog',
  summary: 'Add what commits tell of a version to a file',
  on: repository,
  allow: 'push',
  input: z.object({ ...range, branch: text.nullish(), file: text.nullish(), message: text.nullish() }),
  refuses,
  output: z.boolean(),
  status: 200,
  async handle({ app, viewer, subject, input }) {
    await addToChangelog(app, viewer, subject, input)
    return true
  },
})
