/** The delivery log of a webhook: requests and responses, as its maintainers see them. */
import { sql } from 'kysely'
import { z } from 'zod'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { entity, timestampOut } from '../../../api/wire.ts'
import { DAY, after } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { withoutSecrets } from '../../../lib/net/masked-url.ts'
import type { Hook } from '../hooks/model.ts'
import type { Attempt } from './model.ts'

export const LOG_RETENTION = 7 * DAY
/** Characters of a body that a list shows. A longer body is shown only for a single entry, the longest never. */
const LONGEST_IN_LIST = 100 * 1024
const LONGEST_ALONE = 1024 * 1024

export const HookEventEntity = entity({
  id: z.int(),
  event_id: z.int().nullable(),
  url: z.string(),
  trigger: z.string(),
  request_headers: z.record(z.string(), z.string()),
  request_data: z.unknown(),
  response_headers: z.record(z.string(), z.string()),
  response_body: z.string(),
  response_status: z.string(),
  execution_duration: z.number(),
  internal_error_message: z.string().nullable(),
  created_at: timestampOut,
}).meta({ id: 'HookEvent' })

/** The row with the request body; where the row has none, the message's body. */
export interface LoggedAttempt extends Attempt {
  readonly event_id: number | null
  readonly data: string
}

interface ShownAttempt extends Omit<LoggedAttempt, 'data'> {
  readonly data: string | null
}

const attemptsOf = ({ db, clock }: App, hook: Pick<Hook, 'id'>) =>
  db
    .selectFrom('hook_attempts')
    .leftJoin('event_messages', 'event_messages.id', 'hook_attempts.message_id')
    .selectAll('hook_attempts')
    .select('event_messages.event_id')
    .where('hook_attempts.hook_id', '=', hook.id)
    .where('hook_attempts.created_at', '>=', after(clock, -LOG_RETENTION))

const dataUpTo = (most: number) =>
  sql<string | null>`case when length(coalesce(request_data, body)) <= ${sql.lit(most)}
    then coalesce(request_data, body) end`.as('data')

export const STATUS_GROUPS = ['successful', 'client_failure', 'server_failure'] as const

export type StatusInput = (typeof STATUS_GROUPS)[number] | number

export function listAttempts(
  app: App,
  hook: Hook,
  status: StatusInput | null,
  page: PageRequest,
): Promise<Page<ShownAttempt>> {
  const found = attemptsOf(app, hook)
    .select(dataUpTo(LONGEST_IN_LIST))
    .$if(status !== null, (q) => q.where(withStatus(status!)))
  return pageOfQuery(found.orderBy('hook_attempts.id', 'desc'), page)
}

function withStatus(status: StatusInput) {
  if (typeof status === 'number') return sql<boolean>`response_status = ${status}`
  if (status === 'successful') return sql<boolean>`response_status between 200 and 299`
  if (status === 'client_failure') return sql<boolean>`response_status between 400 and 499`
  return sql<boolean>`(response_status >= 500 or response_status is null)`
}

export async function showAttempt(app: App, { id, hook_id }: Attempt): Promise<ShownAttempt> {
  return attemptsOf(app, { id: hook_id })
    .select(dataUpTo(LONGEST_ALONE))
    .where('hook_attempts.id', '=', id)
    .executeTakeFirstOrThrow()
}

export async function findAttempt(app: App, hook: Hook, id: number): Promise<LoggedAttempt | null> {
  const found = await attemptsOf(app, hook)
    .select(sql<string>`coalesce(request_data, body)`.as('data'))
    .where('hook_attempts.id', '=', id)
    .executeTakeFirst()
  return found ?? null
}

export function presentAttempt(attempt: ShownAttempt): z.infer<typeof HookEventEntity> {
  return {
    id: attempt.id,
    event_id: attempt.event_id,
    url: withoutSecrets(attempt.url),
    trigger: attempt.trigger,
    request_headers: JSON.parse(attempt.request_headers) as Record<string, string>,
    request_data: attempt.data === null ? { oversize: true } : JSON.parse(attempt.data, withoutMailAddresses),
    response_headers: JSON.parse(attempt.response_headers) as Record<string, string>,
    response_body: attempt.response_body,
    response_status: attempt.response_status === null ? 'internal error' : String(attempt.response_status),
    execution_duration: attempt.execution_duration,
    internal_error_message: attempt.error?.replaceAll(attempt.url, withoutSecrets(attempt.url)) ?? null,
    created_at: attempt.created_at,
  }
}

/** Maintainers of a webhook need not learn the mail addresses of others. */
const withoutMailAddresses = (name: string, value: unknown): unknown =>
  /(^|_)email$/.test(name) && typeof value === 'string' && value !== '' ? '[REDACTED]' : value
