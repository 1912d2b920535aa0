import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { bool, filledText, listOf, oneOf, text } from '../../../api/wire.ts'
import { FeatureEntity, presentFeature } from './entity.ts'
import { listFeatures } from './queries.ts'
import { deleteFeature, setFeature } from './service.ts'

export const list = endpoint({
  method: 'GET',
  path: '/features',
  summary: 'List feature switches',
  ...administratorsFirst,
  output: z.array(FeatureEntity),
  handle: async ({ app }) => (await listFeatures(app.db)).map(presentFeature),
})

const WORDS: Record<string, boolean> = { true: true, false: false, '0': false }

const toSwitch = (value: unknown): unknown => {
  const word = String(value).toLowerCase()
  return WORDS[word] ?? (/^\d{1,3}$/.test(word) ? Number(word) : value)
}

/** `true`, `false` or a percentage. */
const switchValue = z.preprocess(toSwitch, z.union([z.boolean(), z.int().min(0).max(100)]))
const targets = { feature_group: listOf(text).nullish(), user: listOf(text).nullish() }
const laterTargets = {
  group: listOf(text).nullish(),
  namespace: listOf(text).nullish(),
  project: listOf(text).nullish(),
  repository: listOf(text).nullish(),
}

export const set = endpoint({
  method: 'POST',
  path: '/features/:name',
  summary: 'Set a feature switch',
  ...administratorsFirst,
  input: z
    .object({
      name: filledText,
      value: switchValue,
      key: oneOf('percentage_of_time', 'percentage_of_actors').nullish(),
      force: bool.nullish(),
      ...targets,
      ...laterTargets,
    })
    .superRefine(({ key, ...input }, { addIssue }) => {
      const names = Object.keys({ ...targets, ...laterTargets }) as (keyof typeof targets | keyof typeof laterTargets)[]
      const target = key && names.find((name) => input[name]?.length)
      if (target) addIssue(`key, ${target} are mutually exclusive`)
    }),
  output: FeatureEntity,
  async handle({ app, input }) {
    const { name, value, key, feature_group, user, group, namespace, project, repository } = input
    const feature = await setFeature(app, name, {
      value,
      key: key ?? 'percentage_of_time',
      feature_groups: feature_group ?? [],
      usernames: user ?? [],
      others: [group, namespace, project, repository].flatMap((paths) => paths ?? []),
    })
    return presentFeature(feature)
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/features/:name',
  summary: 'Delete a feature flag',
  ...administratorsFirst,
  input: z.object({ name: text }),
  output: null, // also 204 if the flag did not exist
  handle: ({ app, input }) => deleteFeature(app, input.name),
})
