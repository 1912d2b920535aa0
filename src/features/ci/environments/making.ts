import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { randomToken } from '../../../lib/crypto/secrets.ts'
import type { Environment, Tier } from './model.ts'

const NAME = /^[\w/${}. -]{1,255}$/

export const isEnvironmentName = (name: string): boolean =>
  NAME.test(name) && name.trim() !== '' && !name.startsWith('/') && !name.endsWith('/')

interface EnvironmentFacts {
  readonly tier?: Tier | null | undefined
  readonly external_url?: string | null | undefined
  readonly description?: string | null | undefined
}

/** Finds the environment with this name, or creates it. */
export async function ensureEnvironment(
  app: App,
  project_id: number,
  name: string,
  { tier = null, external_url = null, description = null }: EnvironmentFacts = {},
): Promise<Environment> {
  const known = await find(app, project_id, name)
  if (known) return known
  const now = timestamp(app.clock)
  await app.db
    .insertInto('environments')
    .values({
      project_id,
      name,
      slug: slugOf(name),
      external_url,
      description,
      state: 'available',
      tier: tier ?? guessTier(name),
      auto_stop_at: null,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
    .execute()
  return (await find(app, project_id, name))!
}

function find({ db }: App, project_id: number, name: string) {
  return db
    .selectFrom('environments')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('name', '=', name)
    .executeTakeFirst()
}

const LONGEST_SLUG = 24
const CUT_SLUG = 17

/**
 * A slug for host names. If the slug differs from the name, it gets a random suffix, so that two names never share a
 * slug.
 */
export function slugOf(name: string): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  const begun = /^[a-z]/.test(plain) ? plain : `env-${plain}`
  const slug = begun.slice(0, LONGEST_SLUG).replace(/-$/, '')
  if (slug === name) return slug
  const rest = randomToken(12)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, 'x')
    .slice(0, 6)
  return `${slug.slice(0, CUT_SLUG).replace(/-$/, '')}-${rest}`
}

const TIER_WORDS: readonly (readonly [Tier, RegExp])[] = [
  ['development', /dev|review|trunk/i],
  ['testing', /test|tst|int|acceptance|acpt|qa|qc|control|quality/i],
  ['staging', /st(a|)g|mod(e|)l|pre|demo|non/i],
  ['production', /pr(o|)d|live/i],
]

/** Guesses the tier from words in the name. */
export const guessTier = (name: string): Tier => TIER_WORDS.find(([, words]) => words.test(name))?.[0] ?? 'other'
