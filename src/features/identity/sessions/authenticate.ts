import type { FastifyRequest } from 'fastify'
import { sessionCookie, type Identity } from '../../../api/credentials.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { weakMemo } from '../../../lib/weak-memo.ts'
import { digestOfShown } from '../../../lib/secrets.ts'
import { andThen, type MaybePromise } from '../../../lib/maybe-promise.ts'
import { hotQuery } from '../../../store/hot.ts'
import { hasExpiredPassword } from './service.ts'

const userByDigest = hotQuery((db, p: { digest: string }) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .selectAll('users')
    .select('sessions.expires_at as session_expires_at')
    .where('sessions.digest', '=', p.digest),
)

/** The person signed in on the web; a password that someone else set ends what the old one began. */
export function bySession(app: App, secret: string): MaybePromise<Identity | null> {
  return andThen(userByDigest(app.db, { digest: digestOfShown(secret) }), ([user]) => {
    if (!user || user.session_expires_at <= timestamp(app.clock)) return null
    return user.state === 'active' && !hasExpiredPassword(app, user) ? identityOf(user) : null
  })
}

const identityOf = weakMemo((user: User): Identity => ({ kind: 'session', user, scopes: null }))

export async function signedInOn(app: App, { headers }: FastifyRequest): Promise<User | null> {
  const secret = sessionCookie(headers.cookie)
  return secret ? ((await bySession(app, secret))?.user ?? null) : null
}
