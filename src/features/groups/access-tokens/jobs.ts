import { DAY, HOUR, after } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'

/** Days before a token expires, smallest first. */
const WARNINGS = [7, 30, 60]
const AT_ONCE = 500

/** Warns once per token and threshold. A token that is created later than a threshold gets only the nearest warning. */
export const warnOfExpiry = job(
  'access_tokens.warn',
  async (app) => {
    for (const [n, days] of WARNINGS.entries()) while (!(await warn(app, days, WARNINGS[n - 1] ?? 0)));
  },
  { every: HOUR },
)

/** Returns true when no token is left. */
async function warn(app: App, days: number, nearer: number): Promise<boolean> {
  const inDays = (count: number) => after(app.clock, count * DAY).slice(0, 10)
  const due = await app.db
    .selectFrom('access_tokens')
    .innerJoin('resource_bots as b', 'b.user_id', 'access_tokens.user_id')
    .select(['access_tokens.id', 'access_tokens.user_id', 'b.project_id', 'b.group_id'])
    .where('kind', '=', 'personal')
    .where('revoked', '=', false)
    .where('expires_at', '>', inDays(nearer))
    .where('expires_at', '<=', inDays(days))
    .where((eb) => eb.or([eb('b.project_id', 'is not', null), eb('b.group_id', 'is not', null)]))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('resource_token_warnings as w')
            .select('w.days')
            .whereRef('w.token_id', '=', 'access_tokens.id')
            .where('w.days', '=', days),
        ),
      ),
    )
    .orderBy('access_tokens.id')
    .limit(AT_ONCE)
    .execute()
  await transact(app, async (app) => {
    for (const token of due) {
      const { numInsertedOrUpdatedRows } = await app.db
        .insertInto('resource_token_warnings')
        .values({ token_id: token.id, days })
        .onConflict((c) => c.doNothing())
        .executeTakeFirst()
      if (numInsertedOrUpdatedRows) await emit(app, 'access_token.expiring', { ...token, days })
    }
  })
  return due.length < AT_ONCE
}
