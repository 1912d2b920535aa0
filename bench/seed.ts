/** Fills an empty database with users of every kind, groups and projects, in the same proportions for any number. */
import { sql } from 'kysely'
import type {} from '../src/features/identity/namespaces/model.ts'
import type {} from '../src/features/identity/tokens/model.ts'
import type {} from '../src/features/identity/users/model.ts'
import { digestOf, vault } from '../src/lib/crypto/secrets.ts'
import type { Db, NewRow } from '../src/store/database.ts'
import { mergeTextIndexes } from '../src/store/full-text.ts'
import { migrate } from '../src/store/migrate.ts'
import { openStore } from '../src/store/open.ts'
import { seedIssues } from './seed-issues.ts'
import { seedTree } from './seed-tree.ts'
import { EVERYBODY, RARE, daysAgo } from './seed-values.ts'

/** One row in … is of this kind. */
const BLOCKED = 20
const EXTERNAL = 10
const CREATED_OVER_DAYS = 1000
const ROWS_A_STATEMENT = 500

export const ADMINISTRATOR = 'bench-administrator'
export const MEMBER = 'bench-member'

/** Tokens of users with memberships, by user number; neither blocked nor external. */
export const HOLDERS: ReadonlyMap<number, string> = new Map(
  [4, 5, 6, 8, 9, 10, 11, 12, 14, 15, 16, 18, 19, 20, 21, 22, 24, 25].map((n) => [n, `bench-holder-${n}`]),
)

/** The key of the measured instance. */
export const SECRET_KEY = '0123456789abcdef'.repeat(4)
const { seal } = vault(Buffer.from(SECRET_KEY, 'hex'))

export async function seed(url: string, users: number): Promise<void> {
  const store = await openStore(url, { durable: false, shared: true, poolSize: 1 })
  try {
    await migrate(store)
    await store.db.transaction().execute(async (db) => {
      for (let first = 1; first <= users; first += ROWS_A_STATEMENT) {
        const length = Math.min(ROWS_A_STATEMENT, users - first + 1)
        const rows = Array.from({ length }, (_, i) => userRow(first + i, users))
        await db.insertInto('users').values(rows).execute()
      }
      await giveNamespaces(db)
      await giveToken(db, ADMINISTRATOR, usernameOf(1))
      await giveToken(db, MEMBER, usernameOf(2))
      for (const [n, secret] of HOLDERS) await giveToken(db, secret, usernameOf(n))
      await seedTree(db, users, { member: 2, holders: [...HOLDERS.keys()], runnersToken: seal('runners-token') })
      await seedIssues(db, users)
    })
    await mergeTextIndexes(store.db)
    if (store.engine === 'postgres') await sql`analyze`.execute(store.db)
  } finally {
    await store.close()
  }
}

export const usernameOf = (n: number): string => `user${n}`

function userRow(n: number, users: number): NewRow<'users'> {
  const created = daysAgo((CREATED_OVER_DAYS * (users - n)) / users)
  const rare = n % (users / 10) === 5
  return {
    username: usernameOf(n),
    name: rare ? `Ada ${RARE} ${n}` : `Ada Lovelace ${n}`,
    email: `${usernameOf(n)}@${EVERYBODY}.com`,
    state: n % BLOCKED === 3 ? 'blocked' : 'active',
    admin: n === 1,
    external: n % EXTERNAL === 7,
    ghost: false,
    bio: 'Writes programs for engines that are yet to be built.',
    location: 'London',
    organization: null,
    messenger: '',
    professional_network: '',
    microblog: '',
    website_url: `https://${usernameOf(n)}.${EVERYBODY}.com`,
    avatar_digest: null,
    avatar_filename: null,
    avatar_type: null,
    projects_limit: 100_000,
    can_create_group: true,
    shared_runners_minutes_limit: null,
    theme_id: 1,
    color_scheme_id: 1,
    two_factor_enabled: false,
    password_digest: null,
    password_expires_at: null,
    locked_until: null,
    confirmed_at: created,
    last_sign_in_at: created,
    current_sign_in_at: created,
    last_activity_on: daysAgo(n % 365).slice(0, 10),
    created_at: created,
    updated_at: created,
  }
}

async function giveNamespaces(db: Db): Promise<void> {
  await db
    .insertInto('namespaces')
    .columns(['kind', 'name', 'path', 'full_name', 'full_path', 'owner_id', 'created_at', 'updated_at'])
    .expression((eb) =>
      eb
        .selectFrom('users')
        .select([
          sql.lit('user').as('kind'),
          'username as name',
          'username as path',
          'username as full_name',
          'username as full_path',
          'id as owner_id',
          'created_at',
          'updated_at',
        ])
        .orderBy('id'),
    )
    .execute()
}

async function giveToken(db: Db, secret: string, username: string): Promise<void> {
  const user = await db
    .selectFrom('users')
    .select(['id', 'created_at', 'updated_at'])
    .where('username', '=', username)
    .executeTakeFirstOrThrow()
  await db
    .insertInto('access_tokens')
    .values({
      user_id: user.id,
      kind: 'private',
      name: 'private token',
      description: null,
      digest: digestOf(secret),
      sealed: seal(secret),
      scopes: '',
      expires_at: null,
      revoked: false,
      family_id: null,
      rotated: false,
      last_used_at: null,
      created_at: user.created_at,
      updated_at: user.updated_at,
    })
    .execute()
}
