/** Creates the pipelines of a push: one for each branch and tag with a new tip, before the push is answered. */
import type { App, PushedRefs } from '../../../context.ts'
import { FeatureDisabled } from '../../../lib/levels.ts'
import { findUser } from '../../identity/users/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { branchOf, isNewTip, tagOf } from '../../repository/gate/updates.ts'
import { readConfiguration } from './configuration.ts'
import { createPipeline } from './create.ts'
import type { VariableInput } from './saving.ts'

/** A mirror may push thousands of branches. */
const MOST_REFS = 50

interface Pushed extends PushedRefs {
  /** For a push that may have been processed before: the time of the push. */
  readonly since?: string
}

export async function runPushed(app: App, { project, by, updates, options, since }: Pushed): Promise<void> {
  if (by === null || project.builds_access_level === FeatureDisabled) return
  const dir = repositoryDir(app, project)
  const moved = updates.flatMap((update) => {
    const branch = branchOf(update.ref)
    const name = branch ?? tagOf(update.ref)
    return name === null || !isNewTip(update) ? [] : [{ ...update, name, tag: branch === null }]
  })
  for (const { name, tag, before, after } of moved.slice(0, MOST_REFS)) {
    // Most projects have no configuration. Reading it first saves the permission checks.
    const text = await readConfiguration({ project, dir }, after)
    const actor = text === null ? null : await findUser(app.db, by)
    if (text === null || !actor) continue
    await createPipeline(app, {
      project,
      actor,
      configuration: { text },
      source: 'push',
      ref: name,
      tag,
      sha: after,
      before_sha: before,
      ...optionsFrom(options),
      cause: { of: ['push', project.id, tag ? 'tag' : 'branch', name, before, after], since: since ?? null },
    })
  }
}

const MOST_GIVEN = 100
const LONGEST_KEY = 255

interface Ordered {
  readonly isSkipped: boolean
  readonly variables: readonly VariableInput[]
  readonly inputs?: Readonly<Record<string, unknown>>
}

/** Parses the push options `ci.skip`, `ci.variable=KEY=value` and `ci.input=name=value`. */
function optionsFrom(options: readonly string[]): Ordered {
  const given = (name: string) =>
    options
      .filter((option) => option.startsWith(`${name}=`))
      .slice(0, MOST_GIVEN)
      .flatMap((option) => {
        const [, key, value] = /^"?([^=]+)=([^]*)$/.exec(option.slice(name.length + 1)) ?? []
        return key === undefined || key.length > LONGEST_KEY ? [] : [{ key, value: value!.replace(/"$/, '') }]
      })
  const inputs = given('ci.input')
  return {
    isSkipped: options.some((option) => option === 'ci.skip' || option === 'ci.skip=true'),
    variables: given('ci.variable').filter(({ key }) => /^\w+$/.test(key)),
    ...(inputs.length > 0 && { inputs: Object.fromEntries(inputs.map(({ key, value }) => [key, parsed(value)])) }),
  }
}

/** Parses numbers, booleans and lists. Every other value is a text. */
function parsed(value: string): unknown {
  if (!/^(?:-?\d+(?:\.\d+)?|true|false|\[.*\])$/.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
