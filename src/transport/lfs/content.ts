import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { findLfsObject, type LfsObject } from '../../features/repository/lfs/queries.ts'
import { storeLfsObject } from '../../features/repository/lfs/service.ts'
import { SANDBOXED } from '../../lib/net/file-headers.ts'
import { readRange } from '../../lib/net/ranges.ts'
import { objectNotFound } from './answers.ts'
import { admit, type LfsSession } from './session.ts'

const HEADERS = {
  'Content-Type': 'application/octet-stream',
  'Content-Disposition': 'attachment',
  ...SANDBOXED,
  'Cache-Control': 'max-age=0, private, must-revalidate',
  'Accept-Ranges': 'bytes',
}

export async function download(session: LfsSession, oid: string): Promise<FastifyReply> {
  await admit(session, 'fetch')
  const object = await findLfsObject(session.gateway.app.db, session.location.project.id, oid)
  if (!object) throw objectNotFound()
  return sendObject(session, object)
}

async function sendObject({ gateway, request, reply }: LfsSession, { oid, size }: LfsObject): Promise<FastifyReply> {
  const tag = `"${oid}"`
  const { 'if-range': only, range } = request.headers
  const isPartial = request.method === 'GET' && (only === undefined || only === tag)
  const piece = isPartial ? readRange(range, size) : null
  if (piece === 'unsatisfiable') return reply.code(416).header('Content-Range', `bytes */${size}`).send()
  const { start, end } = piece ?? { start: 0, end: size - 1 }
  const content =
    request.method === 'HEAD' ? Readable.from([]) : (await gateway.app.blobs.open(oid, piece ?? undefined))?.stream
  if (!content) throw new Error(`LFS object ${oid} is gone`)
  if (piece) reply.code(206).header('Content-Range', `bytes ${start}-${end}/${size}`)
  return reply.headers({ ...HEADERS, ETag: tag, 'Content-Length': end - start + 1 }).send(content)
}

export async function upload(session: LfsSession, oid: string, size: number): Promise<FastifyReply> {
  const { gateway, request, reply, location } = session
  await admit(session, 'push')
  await storeLfsObject(gateway.app, location.project, { oid, size }, request.raw)
  return reply.code(200).send()
}
