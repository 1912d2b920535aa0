/** `rules`: the first rule that matches decides. */
import type { Context } from './context.ts'
import { parseSpan, WEEK } from './durations.ts'
import { isTrue, parseExpression, patternsOf, type Expression } from './expressions.ts'
import type { Spot } from './faults.ts'
import { readAllowFailure, type AllowFailure } from './failures.ts'
import { readNeeds, type Need } from './needs.ts'
import type { Patterns } from './patterns.ts'
import { ConfigFault, isMapping, type Mapping, type Value } from './tree.ts'
import { flagAt, flatten, isText, isTexts, knowsKeys, mappingOf, oneOf, textAt } from './values.ts'
import { readVariables, type YamlVariable } from './yaml-variables.ts'
import type { Scope } from './variables.ts'
import { readAutoCancel, type AutoCancel } from './workflow.ts'

export const WHENS = ['on_success', 'on_failure', 'always', 'manual', 'delayed'] as const
export type When = (typeof WHENS)[number]

const MOST_PATTERNS = 50
const MOST_RULES = 1000
/** The limit of comparisons for `exists`. Beyond the limit the condition is true. */
const MOST_COMPARISONS = 50_000

export interface Rule {
  readonly if: Expression | null
  readonly changes: { readonly paths: readonly string[]; readonly compare_to: string | null } | null
  readonly exists: {
    readonly paths: readonly string[]
    readonly project: string | null
    readonly ref: string | null
  } | null
  readonly when: When | 'never' | null
  readonly start_in: number | null
  readonly allow_failure: AllowFailure | null
  readonly variables: readonly YamlVariable[]
  readonly needs: readonly Need[] | null
  readonly interruptible: boolean | null
  readonly auto_cancel: AutoCancel | null
}

export type RuleKind = 'job' | 'workflow' | 'include'

const KEYS: Record<RuleKind, readonly string[]> = {
  job: ['if', 'changes', 'exists', 'when', 'start_in', 'allow_failure', 'variables', 'needs', 'interruptible'],
  workflow: ['if', 'changes', 'exists', 'when', 'variables', 'auto_cancel'],
  include: ['if', 'changes', 'exists', 'when'],
}

const WHENS_OF: Record<RuleKind, readonly (When | 'never')[]> = {
  job: [...WHENS, 'never'],
  workflow: ['always', 'never'],
  include: ['always', 'never'],
}

/** `!reference` can produce nested lists. */
export function readRules(value: Value, spot: Spot, kind: RuleKind): Rule[] {
  const list = Array.isArray(value) ? flatten(value, (item): item is Value => !Array.isArray(item)) : null
  if (!list) return spot.config('should be an array') ?? []
  if (list.length > MOST_RULES) return spot.config(`has too many entries (maximum is ${MOST_RULES})`) ?? []
  return list.flatMap((item) => readRule(item, spot.item(item, 'rule'), kind) ?? [])
}

function readRule(value: Value, spot: Spot, kind: RuleKind): Rule | null {
  const rule = mappingOf(spot, value)
  if (!rule) return null
  knowsKeys(spot, rule, KEYS[kind])
  const when = oneOf(spot, rule, 'when', WHENS_OF[kind])
  const start = rule['start_in'] ?? null
  const start_in = start === null ? null : parseSpan(start)
  if (when === 'delayed' ? start_in === null : start !== null)
    spot.attribute(rule, 'start_in', when === 'delayed' ? 'should be a duration' : 'must be blank')
  else if (start_in !== null && start_in > WEEK) spot.attribute(rule, 'start_in', 'should not exceed the limit')
  return {
    if: readCondition(rule, spot),
    changes: 'changes' in rule ? readChanges(rule, spot) : null,
    exists: 'exists' in rule ? readExists(rule, spot) : null,
    when,
    start_in,
    allow_failure: readAllowFailure(rule, spot),
    variables: 'variables' in rule ? readVariables(rule['variables']!, spot.at(rule, 'variables')) : [],
    needs: 'needs' in rule ? readNeeds(rule['needs']!, spot.at(rule, 'needs')) : null,
    interruptible: flagAt(spot, rule, 'interruptible'),
    auto_cancel: 'auto_cancel' in rule ? readAutoCancel(rule['auto_cancel']!, spot.at(rule, 'auto_cancel')) : null,
  }
}

function readCondition(rule: Mapping, spot: Spot): Expression | null {
  const text = rule['if'] ?? null
  if (text === null) return null
  const refuse = () => spot.attribute(rule, 'if', 'invalid expression syntax')
  return readExpression(text, refuse, spot)
}

export function readExpression(text: Value, refuse: () => undefined, spot: Spot): Expression | null {
  const expression = isText(text) ? parseExpression(text) : null
  if (!expression) return refuse() ?? null
  for (const pattern of patternsOf(expression)) spot.faults.claims.push({ pattern, refuse })
  return expression
}

function readChanges(rule: Mapping, spot: Spot): Rule['changes'] {
  const value = rule['changes']!
  const at = spot.at(rule, 'changes')
  const entry = isMapping(value) ? value : null
  if (entry) knowsKeys(at, entry, ['paths', 'compare_to'])
  const paths = readGlobs(entry ? (entry['paths'] ?? null) : value, at)
  return paths && { paths, compare_to: entry ? textAt(at, entry, 'compare_to') : null }
}

function readExists(rule: Mapping, spot: Spot): Rule['exists'] {
  const value = rule['exists']!
  const at = spot.at(rule, 'exists')
  const entry = isMapping(value) ? value : null
  if (entry) knowsKeys(at, entry, ['paths', 'project', 'ref'])
  const paths = readGlobs(entry ? (entry['paths'] ?? null) : value, at)
  return (
    paths && {
      paths,
      project: entry ? textAt(at, entry, 'project') : null,
      ref: entry ? textAt(at, entry, 'ref') : null,
    }
  )
}

export function readGlobs(value: Value, spot: Spot): string[] | null {
  const paths = isText(value) ? [value] : value
  if (!isTexts(paths)) return spot.config('should be an array of strings') ?? null
  if (paths.length > MOST_PATTERNS) return spot.config(`has too many entries (maximum is ${MOST_PATTERNS})`) ?? null
  return paths
}

/** The facts for evaluating rules: the future pipeline, and the variables of its jobs. */
export interface Ground {
  readonly context: Context
  readonly scope: Scope
  readonly patterns: Patterns
}

export async function firstMatch(rules: readonly Rule[], ground: Ground): Promise<Rule | null> {
  for (const rule of rules) if (await matches(rule, ground)) return rule
  return null
}

async function matches(rule: Rule, { context, scope, patterns }: Ground): Promise<boolean> {
  if (rule.if && !(await isTrue(rule.if, scope.get, patterns))) return false
  if (rule.changes && !(await isChanged(rule.changes.paths, rule.changes.compare_to, { context, scope, patterns })))
    return false
  return !rule.exists || exists(rule.exists, { context, scope, patterns })
}

/** True if no comparison is defined. */
export async function isChanged(
  globs: readonly string[],
  compareTo: string | null,
  { context, scope, patterns }: Ground,
): Promise<boolean> {
  const paths = await context.changedPaths(compareTo === null ? null : scope.expand(compareTo))
  return paths === null || patterns.anyPath(globs.map(scope.expand), paths)
}

async function exists(input: NonNullable<Rule['exists']>, { context, scope, patterns }: Ground): Promise<boolean> {
  const globs = input.paths.map(scope.expand)
  const elsewhere = input.project !== null && {
    project: scope.expand(input.project),
    ref: input.ref && scope.expand(input.ref),
  }
  const paths = await context.paths(elsewhere || context.tree)
  if (paths === null)
    throw new ConfigFault(`rules:exists:project \`${input.project}\` is not a valid project path or access denied`)
  const [plain, patterned] = [globs.filter((glob) => !isPattern(glob)), globs.filter(isPattern)]
  if (plain.length > 0) {
    const known = setOf(paths)
    if (plain.some((path) => known.has(path.replace(/^\.?\//, '')))) return true
  }
  if (patterned.length === 0) return false
  return patterned.length * paths.length > MOST_COMPARISONS || patterns.anyPath(patterned, paths)
}

const isPattern = (glob: string) => /[*?[{\\]/.test(glob)

const sets = new WeakMap<readonly string[], ReadonlySet<string>>()

function setOf(paths: readonly string[]): ReadonlySet<string> {
  const known = sets.get(paths) ?? new Set(paths)
  sets.set(paths, known)
  return known
}
