import { createInterface } from 'node:readline'
import type { App, User } from '../context.ts'
import { Refusal } from '../errors.ts'
import { openInstance, welcome } from './instance.ts'
import { Misuse, required, type Call, type Verb } from './verb.ts'

const PASSWORD = { value: 'PASSWORD', help: '- reads from standard input (default: generate and print a password)' }
const words = ['USERNAME'] as const

/** Runs `work` on the instance. The log and the first sign-in go to stderr: stdout is for the output of the verb. */
export async function onInstance({ config }: Call, work: (app: App) => Promise<void>): Promise<void> {
  await using instance = await openInstance(config, { log: 'stderr', mustExist: true })
  const { app, firstSignIn } = instance
  if (firstSignIn) console.error(welcome(firstSignIn, config, app.url))
  await work(app)
}

export async function findUserByName(app: App, username: string): Promise<User> {
  const { findUserByUsername } = await import('../features/identity/users/queries.ts')
  const user = await findUserByUsername(app.db, username)
  if (!user) throw new Refusal('not_found', `user ${username} not found`)
  return user
}

/** The acting user that services require: an administrator, and if possible not the user that is acted on. */
export async function operatorOn(app: App, user: User): Promise<User> {
  const administrators = await app.db
    .selectFrom('users')
    .selectAll()
    .where('admin', '=', true)
    .where('state', '=', 'active')
    .orderBy('id')
    .limit(2)
    .execute()
  return administrators.find(({ id }) => id !== user.id) ?? user
}

async function passwordOf({ flags }: Call): Promise<{ password: string; made: boolean }> {
  const { randomToken } = await import('../lib/crypto/secrets.ts')
  if (flags.password === undefined) return { password: randomToken(16), made: true }
  if (flags.password !== '-') return { password: flags.password, made: false }
  for await (const line of createInterface({ input: process.stdin })) return { password: line, made: false }
  throw new Misuse('no password on standard input')
}

const create: Verb = {
  summary: 'Create a user',
  words,
  flags: {
    email: { value: 'ADDRESS', help: 'email address (required)' },
    name: { value: 'NAME', help: 'full name (default: the username)' },
    password: PASSWORD,
    admin: { help: 'create an administrator' },
    external: { help: 'create an external user' },
  },
  run: (call) =>
    onInstance(call, async (app) => {
      const { createUser } = await import('../features/identity/users/service.ts')
      const [username = ''] = call.words
      const { password, made } = await passwordOf(call)
      const { id } = await createUser(app, {
        username,
        password,
        email: required(call, 'email'),
        name: call.flags.name ?? username,
        admin: call.switches.admin ?? false,
        external: call.switches.external ?? null,
        skip_confirmation: true,
      })
      console.log(`created ${username}, id ${id}${made ? `, password ${password}` : ''}`)
    }),
}

const list: Verb = {
  summary: 'List users with id, username, email, state and flags',
  run: (call) =>
    onInstance(call, async (app) => {
      for (let after = 0; ;) {
        const users = await usersAfter(app, after)
        for (const user of users) console.log(columns(user).join('\t'))
        if (users.length === 0) return
        after = users.at(-1)!.id
      }
    }),
}

const usersAfter = (app: App, id: number) =>
  app.db.selectFrom('users').selectAll().where('id', '>', id).orderBy('id').limit(500).execute()

function columns({ id, username, email, state, ...user }: User): (string | number)[] {
  const special = (['admin', 'external', 'ghost'] as const).filter((kind) => user[kind])
  return [id, username, email, state, special.join(',')]
}

const block: Verb = {
  summary: 'Block a user',
  words,
  run: (call) =>
    onInstance(call, async (app) => {
      const { blockUser } = await import('../features/identity/users/state.ts')
      const user = await findUserByName(app, call.words[0]!)
      const changed = await blockUser(app, await operatorOn(app, user), user)
      console.log(`${user.username} ${changed ? 'is' : 'was already'} blocked`)
    }),
}

const unblock: Verb = {
  summary: 'Unblock a user',
  words,
  run: (call) =>
    onInstance(call, async (app) => {
      const { unblockUser } = await import('../features/identity/users/state.ts')
      const user = await findUserByName(app, call.words[0]!)
      const changed = await unblockUser(app, user)
      console.log(`${user.username} ${changed ? 'is active' : 'was not blocked'}`)
    }),
}

const password: Verb = {
  summary: 'Set the password of a user',
  words,
  flags: { password: PASSWORD },
  run: (call) =>
    onInstance(call, async (app) => {
      const { updateUser } = await import('../features/identity/users/service.ts')
      const user = await findUserByName(app, call.words[0]!)
      const { password, made } = await passwordOf(call)
      await updateUser(app, await operatorOn(app, user), user, { password })
      console.log(made ? `the password of ${user.username} is ${password}` : `the password of ${user.username} is set`)
    }),
}

const revoke: Verb = {
  summary: 'Revoke all tokens and sessions of a user; the password is kept',
  words,
  flags: { keys: { help: 'also delete SSH keys' } },
  run: (call) =>
    onInstance(call, async (app) => {
      const { revokeCredentials } = await import('../features/identity/credentials/service.ts')
      const user = await findUserByName(app, call.words[0]!)
      const revoked = await revokeCredentials(app, user, { keys: call.switches.keys ?? false })
      const counts = Object.entries(revoked).map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`)
      console.log(`revoked for ${user.username}: the private token, ${counts.join(', ')}`)
    }),
}

const destroy: Verb = {
  summary: 'Delete a user',
  words,
  flags: { hard: { help: 'also delete contributions instead of moving them to the ghost user' } },
  run: (call) =>
    onInstance(call, async (app) => {
      const { deleteUser } = await import('../features/identity/users/state.ts')
      const user = await findUserByName(app, call.words[0]!)
      await deleteUser(app, await operatorOn(app, user), user, { hard: call.switches.hard ?? false })
      console.log(`${user.username} is deleted`)
    }),
}

export const user: Record<string, Verb> = {
  'user create': create,
  'user list': list,
  'user block': block,
  'user unblock': unblock,
  'user password': password,
  'user revoke': revoke,
  'user delete': destroy,
}
