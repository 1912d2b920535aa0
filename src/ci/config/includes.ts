/** Loads a file with all its includes, merged in order. The including file wins. */
import { globOf } from '../../lib/text/globs.ts'
import { pauses } from '../../lib/async/pauses.ts'
import {
  asMapping,
  type Component,
  type Context,
  type Include,
  type IncludeFailure,
  type Included,
  type Tree,
} from './context.ts'
import { Faults, Spot } from './faults.ts'
import { filling, readHeader } from './inputs.ts'
import type { Patterns } from './patterns.ts'
import { firstMatch, readRules } from './rules.ts'
import { ConfigFault, checkSize, isMapping, markOf, merge, newMapping, put, startOf, tooBig } from './tree.ts'
import type { Budget, Mapping, Mark, Value } from './tree.ts'
import { isText, isTexts } from './values.ts'
import { Scope, valuesOf } from './variables.ts'
import { parseYaml, type Source } from './yaml.ts'

const MOST_INCLUDES = 150
const TYPES = ['local', 'project', 'remote', 'template', 'component', 'artifact'] as const
/** The limit for all files together. */
const LONGEST_TEXTS = 4 * 1024 * 1024

export class Includes {
  readonly list: Included[] = []
  readonly #context: Context
  readonly #patterns: Patterns
  readonly #budget: Budget
  readonly #scope: Scope
  readonly #pause = pauses()
  #left = LONGEST_TEXTS

  constructor(context: Context, patterns: Patterns, budget: Budget) {
    this.#context = context
    this.#patterns = patterns
    this.#budget = budget
    this.#scope = new Scope([valuesOf(context.variables), valuesOf(context.predefined)])
  }

  /** Loads the first file with its includes. */
  async load(text: string): Promise<Mapping> {
    const { path, tree, inputs = {} } = this.#context
    const root = await this.#read({ file: path, text, given: asMapping(inputs) })
    if (!isMapping(root)) throw new ConfigFault('Invalid configuration format', { file: path, line: 1, column: 1 })
    const loaded = await this.#withIncludes(root, tree)
    // A file without includes was measured already.
    if (loaded !== root) checkSize(loaded)
    return loaded
  }

  async #read({ file, text, given, component }: Text): Promise<Value> {
    this.#left -= text.length
    if (this.#left < 0) throw tooBig()
    const { header, content, linesBefore } = splitHeader(text)
    const spec = header === null ? null : await this.#parsed({ file, text: header })
    if (!isMapping(spec) || !('spec' in spec)) {
      const names = Object.keys(given)
      if (names.length > 0) throw new ConfigFault(`unknown input arguments: ${names.join(', ')}`)
      return this.#parsed({ file, text })
    }
    const known = await readHeader(spec, { inputs: given, component: component ?? null }, this.#patterns)
    const { predefined, variables } = this.#context
    return this.#parsed({ file, linesBefore, ...filling(content, known, [...predefined, ...variables]) })
  }

  /** Limits the size before any code writes out a part of the value. */
  async #parsed(source: Source): Promise<Value> {
    await this.#pause()
    const value = parseYaml(source)
    await this.#pause()
    checkSize(value)
    await this.#pause()
    return value
  }

  async #withIncludes(root: Mapping, tree: Tree | null): Promise<Mapping> {
    const written = root['include'] ?? null
    if (written === null) return root
    const mark = markOf(root, 'include')
    let merged = newMapping()
    for (const item of (Array.isArray(written) ? written.flat(10) : [written]) as Value[])
      for (const one of await this.#optionsOf(item, tree, mark))
        merged = merge(merged, await this.#one(one, tree, one.mark ?? mark), this.#budget)
    const own = newMapping()
    for (const [key, value] of Object.entries(root)) if (key !== 'include') put(own, key, value, markOf(root, key))
    return merge(merged, own, this.#budget)
  }

  /** The files that one entry names: several files of a project, or all that a pattern matches. */
  async #optionsOf(item: Value, tree: Tree | null, at: Mark | undefined): Promise<Options[]> {
    const mark = (isMapping(item) && startOf(item)) || at
    const entry = isText(item) ? (/^https?:\/\//.test(item) ? { remote: item } : { local: item }) : item
    if (!isMapping(entry))
      throw new ConfigFault(`Include \`${JSON.stringify(entry)}\` needs to match exactly one accessor!`, mark)
    const types = TYPES.filter((type) => type in entry)
    const [type] = types
    const known = [...TYPES, 'file', 'ref', 'job', 'rules', 'inputs', 'with', 'integrity', 'cache']
    if (!type || types.length > 1 || Object.keys(entry).some((key) => !known.includes(key)))
      throw new ConfigFault(
        `Include \`${JSON.stringify(entry).slice(0, 1000)}\` needs to match exactly one accessor!`,
        mark,
      )
    if (!(await this.#isIncluded(entry, mark, tree))) return []
    const given = entry['inputs'] ?? entry['with'] ?? newMapping()
    if (!isMapping(given)) throw new ConfigFault('include:inputs config should be a hash', mark)
    const all = await this.#includesOf(type, entry, tree, mark)
    return all.map((include) => ({ include, given, mark }))
  }

  async #isIncluded(entry: Mapping, mark: Mark | undefined, tree: Tree | null): Promise<boolean> {
    if (!('rules' in entry)) return true
    const faults = new Faults()
    const rules = readRules(entry['rules']!, new Spot(faults, 'include:rules', mark), 'include')
    const [fault] = faults.list
    if (fault) throw new ConfigFault(fault.message, mark)
    const at = { ...this.#context, tree: tree ?? this.#context.tree }
    const matched = await firstMatch(rules, { context: at, scope: this.#scope, patterns: this.#patterns })
    return matched !== null && matched.when !== 'never'
  }

  async #includesOf(
    type: Include['type'],
    entry: Mapping,
    tree: Tree | null,
    mark: Mark | undefined,
  ): Promise<Include[]> {
    const text = (key: string, fallback?: string | null): string => {
      const value = entry[key] ?? fallback
      if (isText(value)) return this.#scope.expand(value)
      throw new ConfigFault(`Include \`${JSON.stringify(entry).slice(0, 1000)}\` needs a string as \`${key}\`!`, mark)
    }
    switch (type) {
      case 'local':
        return this.#localFiles(text('local').replace(/^\/+/, ''), tree, mark)
      case 'project': {
        const files = isTexts(entry['file']) ? entry['file'].map(this.#scope.expand) : [text('file')]
        const ref = 'ref' in entry ? text('ref') : null
        const project = text('project')
        return files.map((path) => ({ type, project, ref, path: path.replace(/^\/+/, '') }))
      }
      case 'remote':
        return [{ type, url: text('remote'), integrity: 'integrity' in entry ? text('integrity') : null }]
      case 'template':
        return [{ type, name: text('template') }]
      case 'component':
        return [{ type, address: text('component') }]
      case 'artifact':
        return [{ type, path: text('artifact'), job: text('job') }]
    }
  }

  async #localFiles(path: string, tree: Tree | null, mark: Mark | undefined): Promise<Include[]> {
    if (!tree) throw new ConfigFault(`Local file \`${path}\` does not have project!`, mark)
    if (!path.includes('*')) return [{ type: 'local', path }]
    const matches = globOf(path)
    const paths = (await this.#context.paths(tree)) ?? []
    let steps = 5_000_000
    const step = () => {
      if (--steps < 0) throw new ConfigFault(`Local file \`${path}\` matches too many files!`, mark)
    }
    const found = paths.filter((one) => /\.ya?ml$/.test(one) && matches(one, step)).toSorted()
    if (found.length === 0) throw new ConfigFault(`Local file \`${path}\` does not exist!`, mark)
    return found.map((one) => ({ type: 'local', path: one }))
  }

  async #one({ include, given }: Options, from: Tree | null, mark: Mark | undefined): Promise<Mapping> {
    const most = this.#context.limits?.includes ?? MOST_INCLUDES
    if (this.list.length >= most) throw new ConfigFault(`Maximum of ${most} nested includes are allowed!`, mark)
    const location = locationOf(include)
    this.list.push({
      type: include.type,
      location,
      context_project: from?.project ?? null,
      context_sha: from?.sha ?? null,
    })
    const fault = (text: string) => new ConfigFault(text, mark)
    if ('path' in include && !/\.ya?ml$/.test(include.path))
      throw fault(`Included file \`${location}\` does not have YAML extension!`)
    const answer = await this.#context.readInclude(include, from)
    if ('failure' in answer) throw fault(textOfFailure(include, answer.failure))
    if (answer.text.trim() === '') throw fault(`${NAMES[include.type]} file \`${location}\` is empty!`)
    const value = await this.#readIncluded(include, { ...answer, given }, mark)
    if (!isMapping(value)) throw fault(`Included file \`${location}\` does not have valid YAML syntax!`)
    return this.#withIncludes(value, answer.tree)
  }

  async #readIncluded(include: Include, text: Omit<Text, 'file'>, mark: Mark | undefined) {
    const location = locationOf(include)
    const file = include.type === 'project' ? include.path : location
    try {
      return await this.#read({ ...text, file })
    } catch (error) {
      if (!(error instanceof ConfigFault)) throw error
      if (error.message.startsWith(`(${file}): `))
        throw new ConfigFault(`Included file \`${location}\` does not have valid YAML syntax!`, error.mark)
      throw new ConfigFault(
        error.message.includes(' input') ? `\`${location}\`: ${error.message}` : error.message,
        error.mark ?? mark,
      )
    }
  }
}

interface Text {
  readonly file: string
  readonly text: string
  readonly given: Mapping
  readonly component?: Component
}

interface Options {
  readonly include: Include
  readonly given: Mapping
  readonly mark: Mark | undefined
}

const NAMES: Record<Include['type'], string> = {
  local: 'Local',
  project: 'Project',
  remote: 'Remote',
  template: 'Template',
  component: 'Component',
  artifact: 'Artifact',
}

function locationOf(include: Include): string {
  if (include.type === 'remote') return include.url
  if (include.type === 'template') return include.name
  return include.type === 'component' ? include.address : include.path
}

function textOfFailure(include: Include, failure: IncludeFailure): string {
  const location = locationOf(include)
  const file = `${NAMES[include.type]} file \`${location}\``
  if (typeof failure === 'number') return `${file} could not be fetched because of HTTP code \`${failure}\` error!`
  if (failure === 'timeout') return `${file} could not be fetched because of a timeout error!`
  if (failure === 'unreachable') return `${file} could not be fetched because of a socket error!`
  if (failure === 'bad_address') return `${NAMES[include.type]} file address \`${location}\` is invalid!`
  if (failure === 'integrity') return `${file} does not match its integrity!`
  if (failure === 'not_allowed') return `${file} may not be included here!`
  if (failure === 'no_server') return `${file} stands on a server, and none is named!`
  if (include.type === 'component') return `Component '${location}' - content not found`
  if (include.type !== 'project') return `${file} does not exist!`
  const project = `Project \`${include.project}\``
  if (failure === 'no_project')
    return `${project} not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.`
  if (failure === 'no_ref') return `${project} reference \`${include.ref}\` does not exist!`
  return `${project} file \`${include.path}\` does not exist!`
}

/** Splits off the first document if another one follows. */
function splitHeader(text: string): { header: string | null; content: string; linesBefore: number } {
  const none = { header: null, content: text, linesBefore: 0 }
  if (!/^\s*(?:#[^\n]*\n\s*)*(?:---[ \t\r]*\n\s*(?:#[^\n]*\n\s*)*)?["']?spec["']?[ \t]*:/.test(text.slice(0, 10_000)))
    return none
  const separator = /^---(?=\s|$)/gm
  separator.lastIndex = text.indexOf('spec')
  const found = separator.exec(text)
  if (!found) return none
  const header = text.slice(0, found.index)
  return { header, content: text.slice(found.index), linesBefore: header.split('\n').length - 1 }
}
