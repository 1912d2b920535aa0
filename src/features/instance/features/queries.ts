import { hash } from 'node:crypto'
import type { App, User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import type { Feature } from './model.ts'

export const itemsOf = (list: string): string[] => list.split(',').filter(Boolean)

/** How a feature's list of actors names a user. */
export const actorOf = ({ id }: Pick<User, 'id'>): string => `User:${id}`

const featureByName = hotQuery((db, p: { name: string }) =>
  db.selectFrom('features').selectAll().where('name', '=', p.name),
)

/** Whether a feature flag is enabled, for the user if one is given. An unknown flag is disabled. */
export async function featureEnabled(app: App, name: string, { user }: { user?: User | null } = {}): Promise<boolean> {
  const [feature] = await featureByName(app.db, { name })
  if (!feature) return false
  if (feature.enabled || Math.random() * 100 < feature.percentage_of_time) return true
  if (!user) return feature.percentage_of_actors === 100
  return itemsOf(feature.actors).includes(actorOf(user)) || shareOf(name, user) < feature.percentage_of_actors
}

/** A fixed number from 0 to 99 per user and flag, so a larger percentage only adds users. */
const shareOf = (name: string, user: User): number =>
  Number.parseInt(hash('sha256', `${name}\0${actorOf(user)}`).slice(0, 8), 16) % 100

export const listFeatures = (db: Db): Promise<Feature[]> =>
  db.selectFrom('features').selectAll().orderBy('name').execute()

/** The actors for some usernames, and the unknown usernames. */
export async function findActors(db: Db, usernames: string[]): Promise<{ actors: string[]; unknown: string[] }> {
  if (usernames.length === 0) return { actors: [], unknown: [] }
  const wanted = usernames.map((username) => username.toLowerCase())
  const users = await db
    .selectFrom('users')
    .select(['id', 'username'])
    .where((eb) => eb(eb.fn<string>('lower', ['username']), 'in', wanted))
    .orderBy('id')
    .execute()
  const found = new Set(users.map((user) => user.username.toLowerCase()))
  return {
    actors: users.map(actorOf),
    unknown: usernames.filter((username) => !found.has(username.toLowerCase())),
  }
}
