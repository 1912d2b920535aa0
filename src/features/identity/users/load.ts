/** Records of users for read endpoints. The rows must come from a select: see `store/versions.ts`. */
import type { z } from 'zod'
import { cachedRecords } from '../../../api/cached-records.ts'
import type { Json } from '../../../api/json.ts'
import type { App, User } from '../../../context.ts'
import {
  presentAccount,
  presentAdministeredUser,
  presentOwnUser,
  presentUser,
  presentUserSummary,
  type AccountEntity,
  type AdministeredUserEntity,
  type LoadedUser,
  type OwnUserEntity,
  type Surroundings,
  type UserEntity,
  type UserSummary,
} from './entity.ts'
import { loadUser, loadUsers, surroundings } from './queries.ts'

/** Everything that a record shows besides the user's own row must be part of its version key. */
async function present<U extends User, T>(
  app: App,
  kind: string,
  users: readonly U[],
  show: (user: U, around: Surroundings) => T,
  more: (user: U) => unknown = () => null,
): Promise<Json<T>[]> {
  const around = await surroundings(app)
  const keys = users.map((user) => ({
    cacheKey: `${kind} ${user.id}`,
    versionKey: `${user.version} ${around.gravatar} ${JSON.stringify(more(user))}`,
  }))
  return cachedRecords(app, keys, (missing) => missing.map((i) => show(users[i]!, around)))
}

/** Fields of an account's record that are not in its row. */
const relations = ({ identities, isFull, namespace_id }: LoadedUser) => [identities, isFull, namespace_id]

export const presentSummaries = (app: App, users: readonly User[]): Promise<Json<UserSummary>[]> =>
  present(app, 'summary of user', users, presentUserSummary)

export async function presentProfile(app: App, user: User): Promise<Json<z.infer<typeof UserEntity>>> {
  const [json] = await present(app, 'user', [user], presentUser)
  return json!
}

export async function presentAccounts(
  app: App,
  users: readonly User[],
): Promise<Json<z.infer<typeof AccountEntity>>[]> {
  return present(app, 'account of user', await loadUsers(app.db, users), presentAccount, relations)
}

export async function presentAdministered(app: App, user: User): Promise<Json<z.infer<typeof AdministeredUserEntity>>> {
  const loaded = await loadUser(app.db, user)
  const [json] = await present(app, 'administered user', [loaded], presentAdministeredUser, relations)
  return json!
}

/** `sealed`: the encrypted private token, if the record shows it. */
export async function presentOwn(
  app: App,
  viewer: User,
  sealed: string | null,
): Promise<Json<z.infer<typeof OwnUserEntity>>> {
  const own = await loadUser(app.db, viewer)
  const show = (user: typeof own, around: Surroundings) =>
    presentOwnUser(user, around, sealed && app.vault.open(sealed))
  const [json] = await present(app, 'own user', [own], show, (user) => [...relations(user), sealed])
  return json!
}
