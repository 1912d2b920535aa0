import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { UNKNOWN_ROUTE } from '../../api/answers.ts'
import { send } from '../../api/web-answers.ts'
import type { App, User } from '../../context.ts'
import { SANDBOXED } from '../../lib/net/file-headers.ts'

/** A record with an avatar: a user, a group or a project. */
type Wearer = Pick<User, 'avatar_digest' | 'avatar_filename' | 'avatar_type'>

/** Sends an avatar under its stored file name. Headers make the browser display the bytes and never execute them. */
export async function sendAvatar(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  wearer: Wearer | null,
  filename: string,
): Promise<FastifyReply> {
  const { avatar_digest: digest, avatar_filename: name, avatar_type: type } = wearer ?? {}
  const avatar = digest && name === filename ? await app.blobs.open(digest) : null
  if (!avatar || !type) return send(request, reply, 404, UNKNOWN_ROUTE)
  return sendPicture(reply, { type, size: avatar.size, content: avatar.stream })
}

/** Sends the picture, however the caller found it. */
export function sendPicture(
  reply: FastifyReply,
  { type, size, content }: { type: string; size: number; content: Readable | Buffer },
): FastifyReply {
  return reply
    .header('Content-Type', type)
    .header('Content-Length', size)
    .headers(SANDBOXED)
    .header('Cache-Control', 'max-age=300, private')
    .send(content)
}
