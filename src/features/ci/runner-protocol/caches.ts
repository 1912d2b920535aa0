/**
 * Caches in the format for runners. Runners identify a cache by its key, and users write the keys. The server always
 * appends its own label to each key, so that a job on an unprotected ref cannot name a cache of protected refs.
 */
import type { JobOptions } from '../jobs/options.ts'

type Cache = NonNullable<JobOptions['cache']>[number]
type Label = 'protected' | 'non_protected' | 'published'

interface Labelled {
  readonly key: string
  readonly value: string
}

export interface CacheJob {
  readonly isProtected: boolean
  /** Computes the key of the files that the configuration names. */
  readonly keyOf: (key: Cache['key']) => Promise<string>
}

/** The variable whose value runners use directly as a cache key. */
const FALLBACK_VARIABLE = 'CACHE_FALLBACK_KEY'

/**
 * `unprotect` publishes a cache: protected refs write it, and unprotected refs with `unprotect` read it but never write
 * it. Some runners separate caches by the other fields.
 */
export function cachesOf(caches: readonly Cache[], variables: readonly Labelled[], job: CacheJob) {
  const global = variables.findLast(({ key, value }) => key === FALLBACK_VARIABLE && value !== '')?.value
  return Promise.all(
    caches.map(async ({ key, paths, untracked, policy, when, fallback_keys, unprotect }) => {
      const [label, ...readable] = labelsOf(job.isProtected, unprotect)
      const own = await job.keyOf(key)
      const others = fallback_keys.flatMap((one) => [label, ...readable].map((label) => labelled(one, label)))
      return {
        key: labelled(own, label),
        untracked,
        paths: [...paths],
        policy,
        when,
        fallback_keys: [
          ...readable.map((label) => labelled(own, label)),
          ...others,
          ...(global === undefined ? [] : [labelledOnce(global, label)]),
        ],
        unprotect,
      }
    }),
  )
}

/** Runners also read the variable directly, so it needs the label, too. */
export const withLabels = <V extends Labelled>(variables: readonly V[], isProtected: boolean): V[] =>
  variables.map((one) =>
    one.key === FALLBACK_VARIABLE && one.value !== ''
      ? { ...one, value: labelledOnce(one.value, labelsOf(isProtected, false)[0]) }
      : one,
  )

/** The job writes the first label and reads all of them. */
function labelsOf(isProtected: boolean, unprotect: boolean): [Label, ...Label[]] {
  if (isProtected) return unprotect ? ['published'] : ['protected']
  return unprotect ? ['non_protected', 'published'] : ['non_protected']
}

/**
 * Runners resolve variable references, some of them twice. A `$` before the label would turn the label into a variable
 * name.
 */
const labelled = (key: string, label: Label): string => `${withoutDollars(key)}-${label}`

function withoutDollars(key: string): string {
  let end = key.length
  while (key[end - 1] === '$') end--
  return key.slice(0, end)
}

/** Some users already append the label, because other servers require it in this variable. */
function labelledOnce(key: string, label: Label): string {
  const suffix = `-${label}`
  return labelled(key.endsWith(suffix) ? key.slice(0, -suffix.length) : key, label)
}
