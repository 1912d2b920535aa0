/**
 * The cleanup policy for container images. Stored as one JSON value for a future registry, because no query reads parts
 * of it.
 */
import { z } from 'zod'
import { blankable, bool, entity, int, oneOf, text, timestampOut } from '../../../api/wire.ts'

const CADENCES = ['1d', '7d', '14d', '1month', '3month'] as const
const AGES = ['7d', '14d', '30d', '60d', '90d'] as const
const KEEPS: readonly number[] = [1, 5, 10, 25, 50, 100]

export const ContainerExpirationEntity = entity({
  cadence: z.enum(CADENCES),
  enabled: z.boolean(),
  keep_n: z.int().nullable(),
  older_than: z.enum(AGES).nullable(),
  name_regex: z.string().nullable(),
  name_regex_keep: z.string().nullable(),
  next_run_at: timestampOut.nullable(),
}).meta({ id: 'ContainerExpirationPolicy' })

type Policy = Omit<z.infer<typeof ContainerExpirationEntity>, 'next_run_at'>

const USUAL: Policy = {
  cadence: '1d',
  enabled: false,
  keep_n: 10,
  older_than: '90d',
  name_regex: '.*',
  name_regex_keep: null,
}

const pattern = blankable(text.refine(({ length }) => length <= 255))

export const containerExpirationInput = z
  .object({
    cadence: oneOf(...CADENCES).nullish(),
    enabled: bool.nullish(),
    keep_n: blankable(int.refine((value) => KEEPS.includes(value))),
    older_than: blankable(oneOf(...AGES)),
    name_regex: pattern,
    name_regex_delete: pattern,
    name_regex_keep: pattern,
  })
  .nullish()

const policyOf = (stored: string | null): Policy => ({
  ...USUAL,
  ...(stored && (JSON.parse(stored) as Partial<Policy>)),
})

export const presentContainerExpiration = (stored: string | null): z.infer<typeof ContainerExpirationEntity> => ({
  ...policyOf(stored),
  next_run_at: null, // nothing runs until there is a registry
})

/** Merges the given fields into the policy; `name_regex_delete` is the newer name. */
export function containerExpirationWith(
  stored: string | null,
  input: NonNullable<z.infer<typeof containerExpirationInput>>,
): string {
  const { cadence, enabled, name_regex, name_regex_delete = name_regex, ...rest } = input
  const given = {
    ...rest,
    name_regex: name_regex_delete,
    ...(cadence && { cadence }),
    ...(enabled != null && { enabled }),
  }
  const policy = policyOf(stored)
  return JSON.stringify({
    ...policy,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  })
}
