/** `only` and `except`. */
import type { Context } from './context.ts'
import { isTrue, patternIn, type Expression } from './expressions.ts'
import type { Spot } from './faults.ts'
import { isChanged, readExpression, readGlobs, type Ground } from './rules.ts'
import { isMapping, type Value } from './tree.ts'
import { isTexts, knowsKeys } from './values.ts'

export interface Policy {
  readonly refs: readonly string[] | null
  readonly variables: readonly Expression[] | null
  readonly changes: readonly string[] | null
  readonly kubernetes: boolean
}

const REFS_FAULT = 'should be an array of strings or regular expressions using re2 syntax'

export const USUAL: Policy = { refs: ['branches', 'tags'], variables: null, changes: null, kubernetes: false }

export function readPolicy(value: Value, spot: Spot): Policy | null {
  if (isMapping(value)) {
    knowsKeys(spot, value, ['refs', 'kubernetes', 'variables', 'changes'])
    if ('kubernetes' in value && value['kubernetes'] !== 'active')
      spot.attribute(value, 'kubernetes', 'should be active')
    const { variables = null, changes = null, refs = null } = value
    return {
      refs: refs === null ? null : readRefs(refs, spot.at(value, 'refs')),
      variables: variables === null ? null : readConditions(variables, spot.at(value, 'variables')),
      changes: changes === null ? null : readGlobs(changes, spot.at(value, 'changes')),
      kubernetes: 'kubernetes' in value,
    }
  }
  if (!Array.isArray(value) && typeof value !== 'string')
    return spot.say('has to be either an array of conditions or a hash') ?? null
  const refs = readRefs(typeof value === 'string' ? [value] : value, spot)
  return refs && { refs, variables: null, changes: null, kubernetes: false }
}

function readRefs(value: Value, spot: Spot): string[] | null {
  if (!isTexts(value) || value.length > 1000) return spot.config(REFS_FAULT) ?? null
  for (const ref of value) {
    const pattern = patternIn(split(ref).ref)
    if (pattern !== null) spot.faults.claims.push({ pattern, refuse: () => spot.config(REFS_FAULT) })
  }
  return value
}

function readConditions(value: Value, spot: Spot): Expression[] | null {
  if (!isTexts(value) || value.length > 1000) return spot.config('should be an array of strings') ?? null
  return value.flatMap((text) => readExpression(text, () => spot.config('invalid expression syntax'), spot) ?? [])
}

/** Parses `ref@group/project`; a pattern may itself contain an at sign. */
function split(entry: string): { ref: string; project: string | null } {
  const pattern = /^\/.*\/[ismU]*(?=@[^@]+$)/s.exec(entry)?.[0].length ?? -1
  const end = entry.startsWith('/') ? pattern : entry.indexOf('@')
  return end < 0 ? { ref: entry, project: null } : { ref: entry.slice(0, end), project: entry.slice(end + 1) }
}

/** All keys of `only` must match, any key of `except` excludes. */
export async function isAdmitted(only: Policy | null, except: Policy | null, ground: Ground): Promise<boolean> {
  if (only) for (const matches of conditionsOf(only, ground)) if (!(await matches())) return false
  if (except) for (const matches of conditionsOf(except, ground)) if (await matches()) return false
  return true
}

function conditionsOf(policy: Policy, ground: Ground): (() => Promise<boolean>)[] {
  const { refs, variables, changes, kubernetes } = policy
  return [
    ...(refs ? [() => matchesRefs(refs, ground)] : []),
    ...(variables ? [() => anyTrue(variables, ground)] : []),
    ...(changes ? [() => isChanged(changes, null, ground)] : []),
    ...(kubernetes ? [async () => ground.scope.get('CI_KUBERNETES_ACTIVE') === 'true'] : []),
  ]
}

async function anyTrue(expressions: readonly Expression[], { scope, patterns }: Ground): Promise<boolean> {
  for (const expression of expressions) if (await isTrue(expression, scope.get, patterns)) return true
  return false
}

async function matchesRefs(refs: readonly string[], { context, patterns }: Ground): Promise<boolean> {
  const words = wordsOf(context)
  for (const entry of refs) {
    const { ref, project } = split(entry)
    if (project !== null && project !== context.tree.project) continue
    if (words.has(ref)) return true
    // Ref names mean branches and tags, not merge requests.
    if (context.source === 'merge_request_event') continue
    const pattern = patternIn(ref)
    if (pattern === null ? ref === context.ref : await patterns.isFound(pattern, context.ref)) return true
  }
  return false
}

const PLURALS: Readonly<Record<string, string>> = {
  push: 'pushes',
  web: 'web',
  api: 'api',
  trigger: 'triggers',
  schedule: 'schedules',
  external: 'external',
  pipeline: 'pipelines',
  chat: 'chat',
  merge_request_event: 'merge_requests',
  external_pull_request_event: 'external_pull_requests',
}

function wordsOf({ source, tag }: Context): Set<string> {
  const kind = tag ? 'tags' : source === 'merge_request_event' ? null : 'branches'
  return new Set([PLURALS[source], kind].filter((word) => word !== undefined && word !== null))
}
