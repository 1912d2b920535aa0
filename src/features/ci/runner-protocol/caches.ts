/**
 * Caches as runners are given them. Runners name a cache by its key, and keys are texts of users: the server puts its own
 * label behind each of them, always, so that no text of a job on an unprotected ref names a cache of protected ones.
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
  /** Of the files that a key names. */
  readonly keyOf: (key: Cache['key']) => Promise<string>
}

/** Of the job's variables, the one that runners take for a key as it is. */
const FALLBACK_VARIABLE = 'CACHE_FALLBACK_KEY'

/**
 * `unprotect` publishes: what protected refs write with it, others with it may read, and never write. The fields beside
 * the keys are for runners that keep caches apart by them.
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

/** Runners read the variable themselves, too. */
export const withLabels = <V extends Labelled>(variables: readonly V[], isProtected: boolean): V[] =>
  variables.map((one) =>
    one.key === FALLBACK_VARIABLE && one.value !== ''
      ? { ...one, value: labelledOnce(one.value, labelsOf(isProtected, false)[0]) }
      : one,
  )

/** The first is written, all are read. */
function labelsOf(isProtected: boolean, unprotect: boolean): [Label, ...Label[]] {
  if (isProtected) return unprotect ? ['published'] : ['protected']
  return unprotect ? ['non_protected', 'published'] : ['non_protected']
}

/** Runners resolve references, some twice: with a dollar before it the label would be read as the name of a variable. */
const labelled = (key: string, label: Label): string => `${withoutDollars(key)}-${label}`

function withoutDollars(key: string): string {
  let end = key.length
  while (key[end - 1] === '$') end--
  return key.slice(0, end)
}

/** Some write the label themselves, as this variable wants it elsewhere. */
function labelledOnce(key: string, label: Label): string {
  const suffix = `-${label}`
  return labelled(key.endsWith(suffix) ? key.slice(0, -suffix.length) : key, label)
}
