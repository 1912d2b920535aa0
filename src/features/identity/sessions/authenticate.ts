import type { FastifyRequest } from 'fastify'
import { sessionCookie, type Identity } from '../../../api/credentials.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { digestOfShown } from '../../../lib/secrets.ts'
import { andThen, type MaybePromise } from '../../../lib/maybe-promise.ts'
import { hotQuery } from '../../../store/hot.ts'
import { mayComeFrom } from '../addresses/service.ts'
import { dueSecondFactor, isOverdue } from '../second-factor/requirement.ts'
import { noteUse } from '../uses.ts'
import { withUser } from '../users/queries.ts'
import { hasExpiredPassword } from './service.ts'

const sessionByDigest = hotQuery((db, p: { digest: string }) =>
  db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .select([
      'sessions.id',
      'sessions.last_used_at',
      'sessions.expires_at',
      'users.id as user_id',
      'users.version as user_version',
    ])
    .where('sessions.digest', '=', p.digest),
)

/** The person signed in on the web; a password that someone else set ends what the old one began. */
export function bySession(app: App, secret: string): MaybePromise<Identity | null> {
  return andThen(withUser(app.db, sessionByDigest(app.db, { digest: digestOfShown(secret) })), (session) => {
    if (!session || session.expires_at <= timestamp(app.clock)) return null
    const { user } = session
    if (user.state !== 'active' || hasExpiredPassword(app, user)) return null
    noteUse(app, 'sessions', session)
    const identity = { kind: 'session', user, scopes: null, tokenId: session.id } as const
    return andThen(dueSecondFactor(app, user), (due) =>
      due && isOverdue(app, due) ? { ...identity, isHeld: true } : identity,
    )
  })
}

export async function signedInOn(app: App, { headers, ip }: FastifyRequest): Promise<User | null> {
  const secret = sessionCookie(headers.cookie)
  const identity = secret ? await bySession(app, secret) : null
  return identity && !identity.isHeld && (await mayComeFrom(app, identity.user, ip)) ? identity.user : null
}
