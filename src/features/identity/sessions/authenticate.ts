import type { FastifyRequest } from 'fastify'
import { sessionCookie, type Identity } from '../../../api/credentials.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { digestOf } from '../../../lib/secrets.ts'
import { hotQuery } from '../../../store/hot.ts'
import { hasExpiredPassword } from './service.ts'

const userByDigest = hotQuery((db, p: { digest: string; now: string }) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .selectAll('users')
    .where('sessions.digest', '=', p.digest)
    .where('sessions.expires_at', '>', p.now),
)

/** The person signed in on the web; a password that someone else set ends what the old one began. */
export async function bySession(app: App, secret: string): Promise<Identity | null> {
  const [user] = await userByDigest(app.db, { digest: digestOf(secret), now: timestamp(app.clock) })
  if (!user || user.state !== 'active' || hasExpiredPassword(app, user)) return null
  return { kind: 'session', user, scopes: null }
}

export async function signedInOn(app: App, { headers }: FastifyRequest): Promise<User | null> {
  const secret = sessionCookie(headers.cookie)
  return secret ? ((await bySession(app, secret))?.user ?? null) : null
}
