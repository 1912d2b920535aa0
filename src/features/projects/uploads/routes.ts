import { z } from 'zod'
import { Answer, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { file } from '../../../api/wire.ts'
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
import { listUploads, upload, uploadById } from './queries.ts'
import { LARGEST_UPLOAD, deleteUpload, storeUpload } from './service.ts'

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/uploads',
  summary: 'Upload a file to a project',
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

async function answerFile(app: App, upload: Upload): Promise<Answer> {
  const blob = await app.blobs.open(upload.digest)
  if (!blob) throw notFound('Upload')
  return new Answer(200, blob.stream, { ...fileHeaders(upload), 'Content-Length': String(blob.size) })
}

async function endUpload(app: App, upload: Upload): Promise<void> {
  if (!(await deleteUpload(app, upload))) throw notFound('Upload') // a concurrent request deleted the upload
}

export const getById = endpoint({
  method: 'GET',
  path: '/projects/:id/uploads/:upload_id',
  summary: 'Get a file uploaded to a project, by its id',
  on: uploadById,
  allow: 'administer',
  output: bytes,
  handle: ({ app, subject }) => answerFile(app, subject.upload),
})

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/uploads/:secret/:filename',
  summary: 'Get a file uploaded to a project, by its address',
  on: upload,
  allow: 'read',
  by: 'visitor',
  output: bytes,
  handle: ({ app, subject }) => answerFile(app, subject.upload),
})

export const destroyById = endpoint({
  method: 'DELETE',
  path: '/projects/:id/uploads/:upload_id',
  summary: 'Delete a file uploaded to a project, by its id',
  on: uploadById,
  allow: 'administer',
  output: null,
  handle: ({ app, subject }) => endUpload(app, subject.upload),
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id/uploads/:secret/:filename',
  summary: 'Delete a file uploaded to a project, by its address',
  on: upload,
  allow: 'administer',
  output: null,
  handle: ({ app, subject }) => endUpload(app, subject.upload),
})
