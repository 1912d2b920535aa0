import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, date, dateOut, entity } from '../../../api/wire.ts'
import { today } from '../../../clock.ts'
import { listActivities } from './queries.ts'

const ActivityEntity = entity({
  username: z.string(),
  last_activity_on: dateOut,
  /** The older name of the same field. */
  last_activity_at: dateOut,
}).meta({ id: 'Activity' })

/** The same day six months earlier, or the last day of that month if the month is shorter. */
function sixMonthsBefore(day: string): string {
  const moment = new Date(`${day}T00:00:00Z`)
  const date = moment.getUTCDate()
  moment.setUTCMonth(moment.getUTCMonth() - 6)
  // A day that the month does not have rolls over into the next month.
  if (moment.getUTCDate() !== date) moment.setUTCDate(0)
  return moment.toISOString().slice(0, 10)
}

export const list = endpoint({
  method: 'GET',
  path: '/user/activities',
  summary: 'List the last activity of users',
  allow: 'administrator',
  scopes: ['read_user'],
  input: z.object({ from: blankable(date) }),
  output: pageOf(ActivityEntity),
  async handle({ app, input, page }) {
    const from = input.from ?? sixMonthsBefore(today(app.clock))
    const { items, total } = await listActivities(app.db, from, page)
    const activities = items.map(({ username, last_activity_on }) => ({
      username,
      last_activity_on: last_activity_on!, // the query selects only users with a date
      last_activity_at: last_activity_on!,
    }))
    return { items: activities, total }
  },
})
