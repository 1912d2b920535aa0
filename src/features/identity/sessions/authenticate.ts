import type { FastifyRequest } from 'fastify'
import { sessionCookie, type RequiredStep, type Identity } from '../../../api/credentials.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { digestOfPresented } from '../../../lib/crypto/secrets.ts'
import { andThen, type MaybePromise } from '../../../lib/async/maybe-promise.ts'
import { hotQuery } from '../../../store/hot.ts'
import { mayComeFrom } from '../addresses/service.ts'
import { dueSecondFactor, isOverdue } from '../second-factor/requirement.ts'
import { noteUse } from '../uses.ts'
import { withUser } from '../users/queries.ts'
import { hasExpiredPassword, isLateToConfirm } from './service.ts'
import { isTermsDue } from '../terms/service.ts'

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

/** The user of a web session. A session ends when another user sets a new password for the account. */
export function bySession(app: App, secret: string): MaybePromise<Identity | null> {
  return andThen(withUser(app.db, sessionByDigest(app.db, { digest: digestOfPresented(secret) })), (session) => {
    if (!session || session.expires_at <= timestamp(app.clock)) return null
    const { user } = session
    if (user.state !== 'active' || hasExpiredPassword(app, user) || isLateToConfirm(app, user)) return null
    noteUse(app, 'sessions', session)
    const identity = { kind: 'session', user, scopes: null, tokenId: session.id } as const
    return andThen(lockOf(app, user), (requiredStep) => (requiredStep ? { ...identity, requiredStep } : identity))
  })
}

const lockOf = (app: App, user: User): MaybePromise<RequiredStep | null> =>
  andThen(isTermsDue(app, user), (isDue) =>
    isDue
      ? 'terms'
      : andThen(dueSecondFactor(app, user), (due) => (due && isOverdue(app, due) ? 'second_factor' : null)),
  )

/** The identity of the session cookie, even while a required step such as accepting the terms is pending. */
export async function identityOn(app: App, { headers }: FastifyRequest): Promise<Identity | null> {
  const secret = sessionCookie(headers.cookie)
  return secret ? bySession(app, secret) : null
}

export async function signedInOn(app: App, request: FastifyRequest): Promise<User | null> {
  const identity = await identityOn(app, request)
  return identity && !identity.requiredStep && (await mayComeFrom(app, identity.user, request.ip))
    ? identity.user
    : null
}
