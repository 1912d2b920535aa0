import { z } from 'zod'
import { bool, int, listOf, oneOf, text } from '../../../api/wire.ts'
import { RUNNER_ACCESS_LEVELS } from '../runners/model.ts'

const MOST_FEATURES = 200

/** Facts that an agent reports about itself. The server ignores other fields. */
export const info = z
  .object({
    name: text.nullish(),
    version: text.nullish(),
    revision: text.nullish(),
    platform: text.nullish(),
    architecture: text.nullish(),
    executor: text.nullish(),
    features: z
      .record(z.string().max(100), z.unknown())
      .refine((features) => Object.keys(features).length <= MOST_FEATURES)
      .transform((features) => Object.fromEntries(Object.entries(features).map(([name, on]) => [name, on === true])))
      .nullish(),
  })
  .nullish()

export const runnerFields = {
  description: text.nullish(),
  maintenance_note: text.nullish(),
  active: bool.nullish(),
  paused: bool.nullish(),
  tag_list: listOf(text).nullish(),
  run_untagged: bool.nullish(),
  locked: bool.nullish(),
  access_level: oneOf(...RUNNER_ACCESS_LEVELS).nullish(),
  maximum_timeout: int.nullish(),
}
