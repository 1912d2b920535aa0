import { z } from 'zod'
import { Answer, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { file, id, text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { surroundings } from '../../identity/users/queries.ts'
import { pathWithNamespace, project } from '../projects/queries.ts'
import {
  UploadEntity,
  UploadResultEntity,
  fileHeaders,
  presentUpload,
  presentUploadResult,
  type Upload,
} from './entity.ts'
import { findUpload, findUploadById, listUploads } from './queries.ts'
import { LARGEST_UPLOAD, deleteUpload, storeUpload } from './service.ts'

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/uploads',
  summary: 'Upload a file to a project, to be linked from its texts',
  on: project,
  allow: 'upload',
  upload: LARGEST_UPLOAD,
  input: z.object({ file }),
  output: UploadResultEntity,
  async handle({ app, viewer, subject, input }) {
    const upload = await storeUpload(app, viewer, subject.project, input.file)
    return presentUploadResult(upload, pathWithNamespace(subject.project, subject.namespace))
  },
})

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/uploads',
  summary: 'List the files uploaded to a project',
  on: project,
  allow: 'administer',
  output: pageOf(UploadEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listUploads(app.db, subject.project.id, page)
    const around = await surroundings(app)
    return { total, items: items.map((upload) => presentUpload(upload, around)) }
  },
})

const bytes = z.string().meta({ format: 'binary' })
const address = z.object({ secret: text, filename: text })

async function answerFile(app: App, upload: Upload | null): Promise<Answer> {
  const blob = upload && (await app.blobs.open(upload.digest))
  if (!blob) throw notFound('Upload')
  return new Answer(200, blob.stream, { ...fileHeaders(upload), 'Content-Length': String(blob.size) })
}

async function endUpload(app: App, upload: Upload | null): Promise<void> {
  if (!upload || !(await deleteUpload(app, upload))) throw notFound('Upload')
}

export const getById = endpoint({
  method: 'GET',
  path: '/projects/:id/uploads/:upload_id',
  summary: 'Get a file uploaded to a project, by its id',
  on: project,
  allow: 'administer',
  input: z.object({ upload_id: id }),
  output: bytes,
  handle: async ({ app, subject, input }) =>
    answerFile(app, await findUploadById(app.db, subject.project.id, input.upload_id)),
})

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/uploads/:secret/:filename',
  summary: 'Get a file uploaded to a project, by its address',
  on: project,
  allow: 'read',
  guest: true,
  input: address,
  output: bytes,
  handle: async ({ app, subject, input }) => answerFile(app, await findUpload(app.db, subject.project.id, input)),
})

export const destroyById = endpoint({
  method: 'DELETE',
  path: '/projects/:id/uploads/:upload_id',
  summary: 'Delete a file uploaded to a project, by its id',
  on: project,
  allow: 'administer',
  input: z.object({ upload_id: id }),
  output: null,
  handle: async ({ app, subject, input }) =>
    endUpload(app, await findUploadById(app.db, subject.project.id, input.upload_id)),
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id/uploads/:secret/:filename',
  summary: 'Delete a file uploaded to a project, by its address',
  on: project,
  allow: 'administer',
  input: address,
  output: null,
  handle: async ({ app, subject, input }) => endUpload(app, await findUpload(app.db, subject.project.id, input)),
})
