import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { z } from 'zod'
import { Answer, endpoint } from '../../../api/endpoint.ts'
import {
  blankable,
  bool,
  documentText,
  filledLongText,
  filledText,
  int,
  longText,
  oneOf,
  text,
} from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { Refusal, badParameter, notFound } from '../../../errors.ts'
import { BlameTooLong, blame } from '../../../git/history/blame.ts'
import { commitStats } from '../../../git/history/stats.ts'
import { SANDBOXED, INLINE_PDF, disposition } from '../../../lib/net/file-headers.ts'
import { CommitDetailEntity, presentCommitDetail } from '../commits/entity.ts'
import { presentationOf } from '../commits/queries.ts'
import { answerRecord, cacheable } from '../repositories/downloads.ts'
import { openLargeFile } from '../repositories/large-files.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import { repository } from '../repositories/queries.ts'
import {
  BlameEntity,
  FileEntity,
  FileViewEntity,
  FileWriteEntity,
  describingHeaders,
  presentBlame,
  presentFile,
  presentFileView,
  type RenderedFile,
} from './entity.ts'
import { LARGEST_FILE_BODY } from './actions.ts'
import { findFile, openDigested, openFile, type FileAtCommit } from './queries.ts'
import { kindOf, linesIn, markBlame, renderFile } from './rendering.ts'
import { commitActions, moveSubmodule } from './service.ts'

const PATH = '/projects/:id/repository/files/:file_path'

export const get = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'Get a file of a repository, or its metadata with HEAD',
  on: repository,
  limiter: 'download',
  allow: 'download',
  by: 'visitor',
  input: z.object({ file_path: text, ref: filledText }),
  output: FileEntity,
  async handle({ subject, input }) {
    const file = await openDigested(subject.dir, await findFile(subject.dir, input.ref, input.file_path))
    const record = presentFile(file)
    const headers = { ...describingHeaders(file), ...cacheable(hash('sha256', JSON.stringify(record))) }
    return answerRecord(record, file.body, headers)
  },
})

export const raw = endpoint({
  method: 'GET',
  path: `${PATH}/raw`,
  summary: 'Get the bytes of a file of a repository',
  on: repository,
  limiter: 'download',
  allow: 'download',
  by: 'visitor',
  // With `pdf`, a file with the extension of a PDF is shown as PDF.
  input: z.object({ file_path: text, ref: text.nullish(), lfs: blankable(bool), pdf: blankable(bool) }),
  output: z.string().meta({ format: 'binary' }),
  async handle({ app, subject, input }) {
    const found = await findFile(subject.dir, input.ref || 'HEAD', input.file_path)
    const large = input.lfs ? await openLargeFile(app, subject, found.entry.id) : null
    const file = large
      ? { ...found, size: large.size, body: large.stream, digest: large.id }
      : await openFile(subject.dir, found)
    return new Answer(200, file.body, {
      ...describingHeaders(file),
      'Content-Type': 'text/plain',
      'Content-Length': String(file.size),
      'Content-Disposition': disposition('inline', file.entry.name),
      ...SANDBOXED,
      ...(input.pdf && /\.pdf$/i.test(file.entry.name) && INLINE_PDF),
      ...cacheable(large?.id ?? found.entry.id),
    })
  },
})

export const view = endpoint({
  method: 'GET',
  path: `${PATH}/view`,
  summary: 'Get a file for display: highlighted lines or rendered Markdown',
  on: repository,
  allow: 'download',
  by: 'visitor',
  input: z.object({ file_path: text, ref: filledText, plain: blankable(bool) }),
  output: FileViewEntity,
  async handle({ app, subject, input }) {
    const found = await findFile(subject.dir, input.ref, input.file_path)
    const { body, size } = await openFile(subject.dir, found)
    if (body instanceof Readable) {
      body.destroy()
      return presentFileView({ ...found, size }, { kind: 'large' })
    }
    return presentFileView({ ...found, size }, await shown(app, subject, found, body, input.plain ?? false))
  },
})

async function shown(
  app: App,
  subject: RepositorySubject,
  found: FileAtCommit,
  content: Buffer,
  plain: boolean,
): Promise<RenderedFile> {
  const kind = kindOf(found.entry.path, content)
  if (kind === 'markdown' && !plain) return { kind, html: await renderFile(app, subject, found, content) }
  if (kind === 'drawing' && !plain) return { kind, picture: `data:image/svg+xml;base64,${content.toString('base64')}` }
  const isText = kind === 'text' || kind === 'markdown' || kind === 'drawing' || kind === 'lfs'
  return isText ? { kind, ...(await linesIn(app, found.entry.path, content)) } : { kind }
}

export const getBlame = endpoint({
  method: 'GET',
  path: `${PATH}/blame`,
  summary: 'Get the lines of a file with the commits they come from',
  on: repository,
  costly: true,
  allow: 'download',
  by: 'visitor',
  input: z.object({
    file_path: text,
    ref: filledText,
    range: z.object({ start: int.pipe(z.int().min(1)), end: int.pipe(z.int().min(1)) }).nullish(),
    render_html: blankable(bool),
  }),
  output: z.array(BlameEntity),
  async handle({ app, subject, input: { ref, file_path: path, range, render_html: isMarked } }) {
    if (range && range.start > range.end) {
      throw badParameter('range[start] must be less than or equal to range[end]')
    }
    const found = await findFile(subject.dir, ref, path)
    // The same as at `found.commit`, and already known after a push that leaves the file alone.
    const groups = await blame(subject.dir, found.lastCommit, path, range ?? {}).catch(tooLong)
    if (!groups) throw notFound('File')
    const { body, ...file } = await openFile(subject.dir, found)
    if (body instanceof Readable) body.destroy()
    const shown = groups.map(presentBlame)
    return new Answer(200, isMarked ? await markBlame(app, path, shown) : shown, describingHeaders(file))
  },
})

function tooLong(error: unknown): never {
  if (error instanceof BlameTooLong)
    throw new Refusal('unprocessable', 'The file is too long: ask for a range of lines')
  throw error
}

const fileFields = {
  file_path: text,
  branch: filledText,
  commit_message: filledLongText,
  start_branch: text.nullish(),
  author_email: text.nullish(),
  author_name: text.nullish(),
}

const content = {
  ...fileFields,
  content: documentText,
  encoding: oneOf('text', 'base64').nullish(),
  execute_filemode: bool.nullish(),
}

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Create a file in a repository',
  on: repository,
  allow: 'commit',
  alsoAsks: ['push to the branch'],
  body: LARGEST_FILE_BODY,
  input: z.object(content),
  output: FileWriteEntity,
  async handle({ app, viewer, subject, input }) {
    await commitActions(app, viewer, subject, { ...input, actions: [{ ...input, action: 'create' }] })
    return { file_path: input.file_path, branch: input.branch }
  },
})

const STALE = 'You are attempting to update a file that has changed since you started editing it.'

export const update = endpoint({
  method: 'PUT',
  path: PATH,
  summary: 'Update a file in a repository',
  on: repository,
  allow: 'commit',
  alsoAsks: ['push to the branch'],
  body: LARGEST_FILE_BODY,
  input: z.object({ ...content, last_commit_id: text.nullish() }),
  output: FileWriteEntity,
  async handle({ app, viewer, subject, input }) {
    const request = { ...input, actions: [{ ...input, action: 'update' }], staleText: () => STALE }
    await commitActions(app, viewer, subject, request)
    return { file_path: input.file_path, branch: input.branch }
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: PATH,
  summary: 'Delete a file of a repository',
  on: repository,
  allow: 'commit',
  alsoAsks: ['push to the branch'],
  input: z.object({ ...fileFields, last_commit_id: text.nullish() }),
  output: null,
  async handle({ app, viewer, subject, input }) {
    // Clients may send `last_commit_id` here, too. The server has never checked it.
    const actions = [{ action: 'delete', file_path: input.file_path }]
    await commitActions(app, viewer, subject, { ...input, actions })
  },
})

export const updateSubmodule = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/submodules/:submodule',
  summary: 'Update a submodule reference',
  on: repository,
  allow: 'push',
  alsoAsks: ['push to the branch'],
  input: z.object({
    submodule: text,
    branch: filledText,
    commit_sha: text.pipe(z.string().regex(/^[0-9a-f]{40}$/)),
    commit_message: longText.nullish(),
  }),
  output: CommitDetailEntity,
  async handle({ app, viewer, subject, input: { submodule: path, ...request } }) {
    const commit = await moveSubmodule(app, viewer, subject, { ...request, path })
    const stats = (await commitStats(subject.dir, [commit.id])).get(commit.id)
    return presentCommitDetail(commit, { ...presentationOf(app, subject), stats, pipeline: null })
  },
})
