import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { UNKNOWN_ROUTE } from '../../api/answers.ts'
import { send } from '../../api/web-answers.ts'
import type { App, User } from '../../context.ts'
import { SANDBOXED } from '../../lib/file-headers.ts'

/** Whatever wears one: a person, a group, a project. */
type Wearer = Pick<User, 'avatar_digest' | 'avatar_filename' | 'avatar_type'>

/** A picture under its own name. Whatever its bytes hold, a browser only ever shows them. */
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

/** However it was found. */
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
