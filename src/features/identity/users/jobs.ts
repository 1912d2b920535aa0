import { HOUR } from '../../../clock.ts'
import { job, type App, type User } from '../../../context.ts'
import { checkPresence, whileReachable } from './presence.ts'

const AT_A_TIME = 100

export const checkDirectoryPeople = job(
  'users.directory_check',
  (app) =>
    whileReachable(app, async () => {
      for (let last = 0; ;) {
        const people = await directoryPeople(app, last)
        for (const user of people) await checkPresence(app, user)
        if (people.length < AT_A_TIME) return
        last = people.at(-1)!.id
      }
    }),
  { every: HOUR },
)

/** Users that an administrator blocked stay blocked, whatever the directory says. */
async function directoryPeople({ db, directories }: App, last: number): Promise<User[]> {
  if (directories.length === 0) return []
  const providers = directories.map(({ provider }) => provider)
  return db
    .selectFrom('users')
    .selectAll()
    .where('id', '>', last)
    .where('id', 'in', db.selectFrom('identities').select('user_id').where('provider', 'in', providers))
    .where('state', '!=', 'blocked')
    .orderBy('id')
    .limit(AT_A_TIME)
    .execute()
}
