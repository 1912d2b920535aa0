/** Feature switches are stored and shown. They do not act: nothing in the server reads them. */
import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import type { Feature } from './model.ts'

export const itemsOf = (list: string): string[] => list.split(',').filter(Boolean)

/** How a feature's list of actors names a user. */
const actorOf = ({ id }: Pick<User, 'id'>): string => `User:${id}`

export const listFeatures = (db: Db): Promise<Feature[]> =>
  db.selectFrom('features').selectAll().orderBy('name').execute()

/** The actors for some usernames, and the unknown usernames. */
export async function findActors(db: Db, usernames: string[]): Promise<{ actors: string[]; unknown: string[] }> {
  if (usernames.length === 0) return { actors: [], unknown: [] }
  const names = usernames.map((username) => username.toLowerCase())
  const users = await db
    .selectFrom('users')
    .select(['id', 'username'])
    .where((eb) => eb(eb.fn<string>('lower', ['username']), 'in', names))
    .orderBy('id')
    .execute()
  const found = new Set(users.map((user) => user.username.toLowerCase()))
  return {
    actors: users.map(actorOf),
    unknown: usernames.filter((username) => !found.has(username.toLowerCase())),
  }
}
