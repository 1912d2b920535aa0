import { z } from 'zod'
import { assertRules, limited, rule } from '../../../api/rules.ts'
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { tooLong } from '../../../lib/text/faults.ts'
import type { RowChange } from '../../../store/database.ts'
import { transact } from '../../../store/transact.ts'
import type { Feature } from './model.ts'
import { findActors, itemsOf } from './queries.ts'

const LONGEST_NAME = 255

const featureRules = z.object({
  name: limited(z.string(), LONGEST_NAME),
  feature_group: z
    .array(z.string())
    .check(rule((groups) => groups.every(({ length }) => length <= LONGEST_NAME), tooLong(LONGEST_NAME))),
})

/** True or false, for everybody or for the targets. A number is a percentage and ignores the targets. */
export interface FeatureInput {
  value: boolean | number
  key: 'percentage_of_time' | 'percentage_of_actors'
  feature_groups: string[]
  usernames: string[]
  /** Paths of records that a flag cannot be bound to yet. */
  others: string[]
}

export async function setFeature(app: App, name: string, input: FeatureInput): Promise<Feature> {
  assertRules(featureRules, { name, feature_group: input.feature_groups })
  return transact(app, async (app) => {
    const { actors, unknown } = await findActors(app.db, input.usernames)
    const nowhere = unknown[0] ?? input.others[0]
    if (nowhere !== undefined) throw new Refusal('bad_request', `400 Bad request - ${nowhere} is not found!`)

    // Created on demand. An existing row is only locked, so concurrent changes add up.
    const feature = await app.db
      .insertInto('features')
      .values({ ...EVERYTHING_OFF, name })
      .onConflict((c) => c.column('name').doUpdateSet((eb) => ({ name: eb.ref('excluded.name') })))
      .returningAll()
      .executeTakeFirstOrThrow()
    return app.db
      .updateTable('features')
      .set(changeOf(feature, input, actors))
      .where('id', '=', feature.id)
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

const EVERYTHING_OFF = { enabled: false, percentage_of_time: 0, percentage_of_actors: 0, groups: '', actors: '' }

function changeOf(feature: Feature, input: FeatureInput, actors: string[]): RowChange<'features'> {
  const { value, key, feature_groups } = input
  if (typeof value === 'number') return { [key]: value }
  if (feature_groups.length === 0 && actors.length === 0) return value ? { enabled: true } : EVERYTHING_OFF
  const change = value ? withItems : withoutItems
  return { groups: change(feature.groups, feature_groups), actors: change(feature.actors, actors) }
}

const withItems = (list: string, items: string[]) => [...new Set([...itemsOf(list), ...items])].join(',')
const withoutItems = (list: string, items: string[]) =>
  itemsOf(list)
    .filter((item) => !items.includes(item))
    .join(',')

export async function deleteFeature(app: App, name: string): Promise<void> {
  await app.db.deleteFrom('features').where('name', '=', name).execute()
}
