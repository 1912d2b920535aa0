import { Readable } from 'node:stream'
import { z } from 'zod'
import { Answer, endpoint } from '../../../api/endpoint.ts'
import { blankable, bool } from '../../../api/wire.ts'
import { notFound } from '../../../errors.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { snapshotFiles } from '../../../git/storage/snapshot.ts'
import { SANDBOXED, disposition } from '../../../lib/net/file-headers.ts'
import { tarOf } from '../../../lib/files/tar.ts'
import { wikiDir } from '../../projects/repositories/repository.ts'
import { repository } from '../repositories/queries.ts'

/** For administrators, whatever features the project has enabled: a copy of the files on disk. */
export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/snapshot',
  summary: 'Get a copy of the repository of a project or of its wiki',
  on: { ...repository, abilityFirst: false },
  allow: 'administrator',
  input: z.object({ wiki: blankable(bool) }),
  output: z.string().meta({ format: 'binary' }),
  async handle({ app, subject, input }) {
    const { project } = subject
    const dir = input.wiki ? wikiDir(app, project) : subject.dir
    if (!(await repositoryExists(dir))) throw notFound('Repository')
    const name = `${project.path}${input.wiki ? '.wiki' : ''}.git`
    return new Answer(200, Readable.from(tarOf(snapshotFiles(dir), `${name}/`), { objectMode: false }), {
      'Content-Type': 'application/x-tar',
      'Content-Disposition': disposition('attachment', `${name}.tar`),
      ...SANDBOXED,
    })
  },
})
