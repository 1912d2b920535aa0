import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Gateway } from '../../../api/run.ts'
import type { App } from '../../../context.ts'
import { readRange, type Piece } from '../../../lib/net/ranges.ts'
import { webViewer } from '../../identity/web-viewer.ts'
import { projectPolicy } from '../projects/policy.ts'
import { loadProjectSubject, type Project } from '../projects/queries.ts'
import { fileHeaders, type Upload } from './entity.ts'
import { findUpload } from './queries.ts'

export interface UploadAddress {
  readonly project: Project
  readonly secret: string
  readonly filename: string
}

/** A file for viewers who may see the project. Knowing the URL is not enough. */
export async function findVisibleUpload(
  gateway: Gateway,
  request: FastifyRequest,
  { project, ...address }: UploadAddress,
): Promise<Upload | null> {
  const subject = await loadProjectSubject(gateway.app, project, await webViewer(gateway, request))
  return projectPolicy.read(subject) ? findUpload(gateway.app.db, project.id, address) : null
}

export async function sendUpload(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  upload: Upload,
): Promise<FastifyReply> {
  const { digest, size } = upload
  const { 'if-none-match': known, 'if-range': only, range } = request.headers
  const tag = `"${digest}"`
  const headers = { ...fileHeaders(upload), ETag: tag, 'Accept-Ranges': 'bytes' }
  if (known && names(known, tag)) return reply.code(304).headers(headers).send()

  const isPartial = request.method === 'GET' && (only === undefined || only === tag)
  const piece = isPartial ? readRange(range, size) : null
  if (piece === 'unsatisfiable') return reply.code(416).header('Content-Range', `bytes */${size}`).send()
  const { start, end } = piece ?? { start: 0, end: size - 1 }
  const content = await contentOf(app, request.method, digest, piece)
  if (piece) reply.code(206).header('Content-Range', `bytes ${start}-${end}/${size}`)
  return reply
    .headers(headers)
    .header('Content-Length', end - start + 1)
    .send(content)
}

/**
 * HEAD reads nothing but still returns a stream, because the framework would set the content length of any other body
 * itself.
 */
async function contentOf(app: App, method: string, digest: string, piece: Piece | null): Promise<Readable> {
  if (method === 'HEAD') return Readable.from([])
  const blob = await app.blobs.open(digest, piece ?? undefined)
  if (!blob) throw new Error(`blob ${digest} is gone`)
  return blob.stream
}

const names = (list: string, tag: string) =>
  list.split(',').some((one) => one.trim().replace(/^W\//, '') === tag || one.trim() === '*')
