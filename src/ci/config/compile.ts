/**
 * Compiles `.gitlab-ci.yml`: takes a text and its context, and returns the plan of a pipeline or all errors. Pure: it
 * asks the context for files, URLs and changes. Terminates soon, whatever the text is.
 */
import { dump } from 'js-yaml'
import { pauses } from '../../lib/async/pauses.ts'
import type { Context, Included } from './context.ts'
import { readDefinition, type Definition } from './definition.ts'
import { Faults, type Fault } from './faults.ts'
import { Includes } from './includes.ts'
import { Patterns } from './patterns.ts'
import { makePlan, type Plan } from './plan.ts'
import { resolveExtends, resolveReferences } from './references.ts'
import { Budget, ConfigFault, type Mapping } from './tree.ts'
import { masker } from './variables.ts'

const MOST_NEEDS = 50

export interface Checked {
  /** With the messages of the reference implementation, and their positions. */
  readonly errors: readonly Fault[]
  readonly warnings: readonly string[]
  readonly includes: readonly Included[]
  /** The file with all includes and `extends` merged, as YAML. Null if the file could not be read that far. */
  readonly merged: () => string | null
  /** Null with errors. */
  readonly definition: Definition | null
}

export interface Compiled extends Checked {
  /** Null with errors. */
  readonly plan: Plan | null
}

/** Validates a configuration, independent of a pipeline. */
export async function check(text: string, context: Context): Promise<Checked> {
  const { plan: _, ...checked } = await run(text, context, false)
  return checked
}

/** The plan of one pipeline. */
export async function compile(text: string, context: Context): Promise<Compiled> {
  return run(text, context, true)
}

async function run(text: string, original: Context, wantsPlan: boolean): Promise<Compiled> {
  const context = remembering(original)
  const faults = new Faults()
  const patterns = new Patterns(context.caller)
  const budget = new Budget()
  const includes = new Includes(context, patterns, budget)
  let root: Mapping | null = null
  let definition: Definition | null = null
  let plan: Plan | null = null
  // In a long file, each step alone takes a while, so the compiler pauses in between.
  const pause = pauses()
  try {
    const loaded = await includes.load(text)
    await pause()
    const referred = resolveReferences(loaded)
    await pause()
    root = resolveExtends(referred, budget)
    await pause()
    definition = await readDefinition(root, faults, { needs: context.limits?.needs ?? MOST_NEEDS })
    await settle(faults, patterns)
    if (wantsPlan && faults.list.length === 0) plan = await makePlan(root, definition, context, patterns)
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error
    faults.add(error.message, error.mark)
  }
  const mask = masker([...context.predefined, ...context.variables])
  const isRight = faults.list.length === 0
  return {
    errors: faults.list.map((fault) => ({ ...fault, message: mask(fault.message) })),
    warnings: faults.warnings.map(mask),
    includes: includes.list.map((one) => ({ ...one, location: mask(one.location) })),
    merged: () => root && dump(root, { lineWidth: -1, noRefs: true }),
    definition: isRight ? definition : null,
    plan: isRight ? plan : null,
  }
}

async function settle(faults: Faults, patterns: Patterns): Promise<void> {
  for (const { pattern, refuse } of faults.claims) if (!(await patterns.isPattern(pattern))) refuse()
}

/** Caches the answers of the context. */
function remembering(context: Context): Context {
  const changed = new Map<string | null, ReturnType<Context['changedPaths']>>()
  const paths = new Map<string, ReturnType<Context['paths']>>()
  const once = <Key, Answer>(known: Map<Key, Answer>, key: Key, ask: () => Answer): Answer => {
    const answer = known.get(key) ?? ask()
    known.set(key, answer)
    return answer
  }
  return {
    ...context,
    changedPaths: (compareTo) => once(changed, compareTo, () => context.changedPaths(compareTo)),
    paths: (tree) => once(paths, JSON.stringify(tree), () => context.paths(tree)),
    readInclude: (include, from) => context.readInclude(include, from),
  }
}
