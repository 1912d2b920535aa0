/** Reads the keywords `artifacts` and `cache`. */
import { parseSpan } from './durations.ts'
import type { Spot } from './faults.ts'
import { isMapping, type Mapping, type Value } from './tree.ts'
import { flagAt, isScalar, isText, isTexts, knowsKeys, oneOf, textAt, textOrTextsAt, textsAt } from './values.ts'

const WHENS = ['on_success', 'on_failure', 'always'] as const
const ACCESSES = ['none', 'developer', 'maintainer', 'all'] as const

export interface Artifacts {
  readonly name: string | null
  readonly paths: readonly string[]
  readonly exclude: readonly string[]
  readonly untracked: boolean
  readonly when: (typeof WHENS)[number]
  /** As written: `never`, `1 week`. */
  readonly expire_in: string | null
  readonly expose_as: string | null
  readonly access: (typeof ACCESSES)[number]
  readonly reports: Readonly<Record<string, readonly string[]>>
}

const ARTIFACTS_KEYS = [
  'name',
  'untracked',
  'paths',
  'reports',
  'when',
  'expire_in',
  'expose_as',
  'exclude',
  'public',
  'access',
]

export function readArtifacts(value: Value, spot: Spot): Artifacts | null {
  if (value === null) return null
  if (!isMapping(value)) return spot.config('should be a hash') ?? null
  knowsKeys(spot, value, ARTIFACTS_KEYS)
  const expire = value['expire_in'] ?? null
  if (expire !== null && expire !== 'never' && parseSpan(expire) === null)
    spot.attribute(value, 'expire_in', 'should be a duration')
  if ('public' in value && 'access' in value) spot.config('these keys cannot be used together: public, access')
  const isPublic = flagAt(spot, value, 'public') ?? true
  const expose_as = textAt(spot, value, 'expose_as')
  const paths = textsAt(spot, value, 'paths') ?? []
  if (expose_as !== null && !/^[\w -]{1,100}$/.test(expose_as))
    spot.attribute(value, 'expose_as', "can contain only letters, digits, '-', '_' and spaces")
  if (expose_as !== null && paths.length === 0) spot.say("paths can't be blank")
  return {
    name: textAt(spot, value, 'name'),
    paths,
    exclude: textsAt(spot, value, 'exclude') ?? [],
    untracked: flagAt(spot, value, 'untracked') ?? false,
    when: oneOf(spot, value, 'when', WHENS) ?? 'on_success',
    expire_in: expire === null ? null : String(expire as string | number),
    expose_as,
    access: oneOf(spot, value, 'access', ACCESSES) ?? (isPublic ? 'all' : 'developer'),
    reports: (value['reports'] ?? null) === null ? {} : readReports(value['reports']!, spot.at(value, 'reports')),
  }
}

const REPORTS = [
  'junit',
  'dotenv',
  'codequality',
  'coverage_report',
  'terraform',
  'accessibility',
  'metrics',
  'sast',
  'secret_detection',
  'dependency_scanning',
  'container_scanning',
  'cluster_image_scanning',
  'dast',
  'license_scanning',
  'performance',
  'browser_performance',
  'load_performance',
  'requirements',
  'requirements_v2',
  'coverage_fuzzing',
  'api_fuzzing',
  'cyclonedx',
  'annotations',
  'repository_xray',
  'lsif',
]

/** A coverage report is named by its format, because runners expect that. */
function readReports(value: Value, spot: Spot): Record<string, string[]> {
  if (!isMapping(value)) return spot.config('should be a hash') ?? {}
  knowsKeys(spot, value, REPORTS)
  const reports: Record<string, string[]> = {}
  for (const name of REPORTS) {
    const report = value[name] ?? null
    if (report === null) continue
    if (name === 'coverage_report') Object.assign(reports, readCoverageReport(report, spot.at(value, name)))
    else {
      const paths = isText(report) ? [report] : report
      if (isTexts(paths)) reports[name] = paths
      else spot.attribute(value, name, 'should be an array of strings or a string')
    }
  }
  return reports
}

function readCoverageReport(value: Value, spot: Spot): Record<string, string[]> {
  if (!isMapping(value)) return spot.config('should be a hash') ?? {}
  knowsKeys(spot, value, ['coverage_format', 'path'])
  const path = textAt(spot, value, 'path')
  const format = oneOf(spot, value, 'coverage_format', ['cobertura', 'jacoco'])
  if (path === null && !('path' in value)) spot.say("path can't be blank")
  if (format === null && !('coverage_format' in value)) spot.say("coverage format can't be blank")
  return path !== null && format ? { [format]: [path] } : {}
}

export interface Cache {
  /** A key from files: depends on the last commits that changed them. */
  readonly key:
    | string
    | { readonly files: readonly string[]; readonly files_commits: boolean; readonly prefix: string | null }
  readonly paths: readonly string[]
  readonly untracked: boolean
  readonly policy: string
  readonly when: (typeof WHENS)[number]
  readonly fallback_keys: readonly string[]
  /** Protected refs write the cache, and all refs read it. */
  readonly unprotect: boolean
}

const CACHE_KEYS = ['key', 'untracked', 'paths', 'when', 'policy', 'unprotect', 'fallback_keys']
const POLICIES = ['pull-push', 'push', 'pull']
const MOST_CACHES = 4
const MOST_FALLBACKS = 5

export function readCaches(value: Value, spot: Spot): Cache[] | null {
  if (value === null) return null
  const list = Array.isArray(value) ? (value.flat(10) as Value[]) : [value]
  if (list.length > MOST_CACHES) return spot.config(`no more than ${MOST_CACHES} caches can be created`) ?? null
  return list.flatMap((item) => {
    const at = Array.isArray(value) ? spot.item(item, 'cache') : spot
    return isMapping(item) ? (readCache(item, at) ?? []) : (at.config('should be a hash') ?? [])
  })
}

function readCache(entry: Mapping, spot: Spot): Cache | null {
  knowsKeys(spot, entry, CACHE_KEYS)
  const policy = textAt(spot, entry, 'policy') ?? 'pull-push'
  if (!POLICIES.includes(policy) && !policy.startsWith('$'))
    spot.attribute(entry, 'policy', 'should be pull-push, push, or pull')
  const fallback_keys = textsAt(spot, entry, 'fallback_keys') ?? []
  if (fallback_keys.length > MOST_FALLBACKS)
    spot.attribute(entry, 'fallback_keys', `has to many entries (maximum ${MOST_FALLBACKS})`)
  return {
    key: readKey(entry, spot) ?? 'default',
    paths: textOrTextsAt(spot, entry, 'paths') ?? [],
    untracked: flagAt(spot, entry, 'untracked') ?? false,
    policy,
    when: oneOf(spot, entry, 'when', WHENS) ?? 'on_success',
    fallback_keys,
    unprotect: flagAt(spot, entry, 'unprotect') ?? false,
  }
}

function readKey(entry: Mapping, spot: Spot): Cache['key'] | null {
  const key = entry['key'] ?? null
  const at = spot.at(entry, 'key')
  if (key === null) return null
  if (!isMapping(key))
    return isScalar(key) ? readKeyText(String(key), at) : (at.say('should be a hash, a string or a symbol') ?? null)
  knowsKeys(at, key, ['files', 'files_commits', 'prefix'])
  const list = 'files' in key ? 'files' : 'files_commits'
  const files = key[list] ?? null
  if (files === null) return at.say('config missing required keys: files') ?? null
  if (!isTexts(files)) return at.at(key, list).config('should be an array of strings') ?? null
  if (files.length === 0 || files.length > 2)
    return (
      at.at(key, list).config(files.length === 0 ? 'requires at least 1 item' : 'has too many items (maximum is 2)') ??
      null
    )
  return { files, files_commits: list === 'files_commits', prefix: textAt(at, key, 'prefix') }
}

/** The key becomes a folder name on the runner. */
function readKeyText(key: string, spot: Spot): string | null {
  const path = key.replace(/%2f/gi, '/').replace(/%2e/gi, '.')
  if (path.includes('/')) return spot.config('cannot contain the "/" character') ?? null
  if (path === '.' || path === '..') return spot.config('cannot be "." or ".."') ?? null
  return key
}
