/**
 * Reads `spec` of a file's header, and fills `$[[ inputs.name | function ]]` and `$[[ component.name ]]` in the rest of
 * the file.
 */
import type { Component } from './context.ts'
import { isTrue, parseExpression, patternsOf, type Expression } from './expressions.ts'
import { ConfigFault, isMapping, type Mapping, type Mark, type Value } from './tree.ts'
import type { Patterns } from './patterns.ts'
import { Faults, Spot } from './faults.ts'
import type { Fill } from './yaml.ts'
import type { Variable } from './variables.ts'
import { expand } from './variables.ts'
import { isScalar, isText, isTexts, knowsKeys } from './values.ts'

const TYPES = ['string', 'number', 'boolean', 'array'] as const
type Type = (typeof TYPES)[number]

const MOST_INPUTS = 100
const LONGEST_BLOCK = 1024
const MOST_BLOCKS = 20_000
const MOST_FUNCTIONS = 3
/** The limit of all filled values together. */
const LONGEST_RESULT = 1024 * 1024
const SPEC_KEYS = ['type', 'default', 'options', 'regex', 'description', 'rules']
const MOST_RULES = 50
const MOST_OPTIONS = 50
const COMPONENT_FIELDS = ['name', 'sha', 'version', 'reference'] as const

const TYPE_FAULTS: Record<Type, string> = {
  string: 'provided value is not a string',
  number: 'provided value is not a number',
  boolean: 'provided value is not a boolean',
  array: 'provided value is not an array',
}

/** Values that blocks may name: `inputs.stage`, `component.sha`. */
export type Known = ReadonlyMap<string, Value>

const isOf = (type: Type, value: Value) => (type === 'array' ? Array.isArray(value) : typeof value === type)

const shown = (value: Value) => (isText(value) ? value : JSON.stringify(value))

export interface GivenInputs {
  readonly inputs: Mapping
  /** Set if the included file is a component. */
  readonly component: Component | null
}

/** Matches the header with the given inputs. Returns all values that blocks may name, or throws the first error. */
export async function readHeader(header: Mapping, given: GivenInputs, patterns: Patterns): Promise<Known> {
  const faults = new Faults()
  const spot = new Spot(faults, 'header:spec', undefined)
  const spec = header['spec'] ?? null
  const known = isMapping(spec) ? (spec['inputs'] ?? null) : null
  if (spec !== null && !isMapping(spec)) spot.config('should be a hash')
  else if (spec !== null) knowsKeys(spot, spec, ['inputs', 'component', 'description', 'include'])
  if (known !== null && !isMapping(known)) spot.say('inputs config should be a hash')
  const specs = isMapping(known) ? known : {}
  if (Object.keys(specs).length > MOST_INPUTS)
    spot.say(`inputs config has too many entries (maximum is ${MOST_INPUTS})`)
  const values = new Map<string, Value>()
  // Rules need the values of the other inputs.
  const hasRules = ([, one]: [string, Value]) => isMapping(one) && 'rules' in one
  for (const [name, one] of Object.entries(specs).toSorted((a, b) => Number(hasRules(a)) - Number(hasRules(b)))) {
    const fault = (text: string) => faults.add(`\`${name}\` input: ${text}`, spot.at(specs as Mapping, name).mark)
    const at = spot.at(specs as Mapping, name, `inputs:${name}`)
    values.set(name, await valueOf(one, given.inputs[name], { spot: at, fault, patterns, values }))
  }
  const strangers = Object.keys(given.inputs).filter((name) => !values.has(name))
  if (strangers.length > 0) faults.add(`unknown input arguments: ${strangers.join(', ')}`)
  const fields = readFields(isMapping(spec) ? (spec['component'] ?? null) : null, spot)
  const [first] = faults.list
  if (first) throw new ConfigFault(first.message, markIn(first))
  return new Map([
    ...Array.from(values, ([name, value]) => [`inputs.${name}`, value] as const),
    ...fields.map((field) => [`component.${field}`, given.component?.[field] ?? null] as const),
  ])
}

function readFields(value: Value, spot: Spot): (keyof Component)[] {
  if (value === null) return []
  const fields = isTexts(value) ? COMPONENT_FIELDS.filter((field) => value.includes(field)) : null
  const isKnown = fields && isTexts(value) && value.every((field) => COMPONENT_FIELDS.some((known) => known === field))
  return isKnown ? fields : (spot.say(`component config should be an array of: ${COMPONENT_FIELDS.join(', ')}`) ?? [])
}

const markIn = ({ file, line, column }: { file?: string; line?: number; column?: number }): Mark | undefined =>
  file === undefined ? undefined : { file, line: line ?? 1, column: column ?? 1 }

interface RequestContext {
  readonly spot: Spot
  readonly fault: (text: string) => void
  readonly patterns: Patterns
  /** The values of inputs that were read before. */
  readonly values: ReadonlyMap<string, Value>
}

async function valueOf(written: Value, given: Value | undefined, context: RequestContext): Promise<Value> {
  const { spot, fault, patterns } = context
  const spec = written ?? {}
  if (!isMapping(spec)) return spot.config('should be a hash') ?? null
  knowsKeys(spot, spec, SPEC_KEYS)
  const type = TYPES.find((known) => known === (spec['type'] ?? 'string'))
  if (!type) return spot.attribute(spec, 'type', `should be one of: ${TYPES.join(', ')}`) ?? null
  const chosen = 'rules' in spec ? await chosenBy(spec, context) : spec
  if (!chosen) return null
  const value = given ?? chosen['default']
  const isLeftOpen = 'rules' in spec && value === null
  if (value === undefined || isLeftOpen) return fault('required value has not been provided') ?? null
  if (!isOf(type, value)) {
    fault(given === undefined ? TYPE_FAULTS[type].replace('provided', 'default') : TYPE_FAULTS[type])
    return null
  }
  checkOptions(chosen, value, context)
  const { regex = null } = spec
  if (regex !== null && (type !== 'string' || !isText(regex) || !(await patterns.isPattern(regex))))
    spot.attribute(spec, 'regex', 'must be a regular expression with re2 syntax')
  else if (isText(regex) && !(await patterns.isFound(regex, shown(value))))
    fault('provided value does not match required RegEx pattern')
  return value
}

function checkOptions(spec: Mapping, value: Value, { spot, fault }: Pick<RequestContext, 'spot' | 'fault'>): void {
  const { options = null } = spec
  if (options === null) return
  if (!Array.isArray(options) || options.length > MOST_OPTIONS || !options.every(isScalar))
    spot.attribute(spec, 'options', `should be an array of at most ${MOST_OPTIONS} strings or numbers`)
  else if (!options.some((option) => option === value))
    fault(`\`${shown(value)}\` cannot be used because it is not in the list of allowed options`)
}

/** The options and the default of the first rule that matches. Null if none matches. */
async function chosenBy(spec: Mapping, { spot, patterns, values }: RequestContext): Promise<Mapping | null> {
  const { rules } = spec
  const together = ['default', 'options'].filter((key) => key in spec)
  if (together.length > 0)
    return spot.config(`these keys cannot be used together: ${['rules', ...together].join(', ')}`) ?? null
  if (!Array.isArray(rules) || rules.length > MOST_RULES || !rules.every(isMapping))
    return spot.attribute(spec, 'rules', `should be an array of at most ${MOST_RULES} hashes`) ?? null
  let chosen: Mapping | null = null
  for (const rule of rules) {
    const at = spot.item(rule, 'rules:rule')
    knowsKeys(at, rule, ['if', 'options', 'default'])
    const condition = 'if' in rule ? conditionIn(rule['if']!) : null
    if (condition) {
      const isRight = await everyPattern(condition.expression, patterns)
      if (!condition.expression || !isRight) return at.attribute(rule, 'if', 'invalid expression syntax') ?? null
      const stranger = condition.names.find((name) => !values.has(name))
      if (stranger !== undefined)
        return at.attribute(rule, 'if', `unknown interpolation key: \`${stranger.slice(0, 255)}\``) ?? null
      const lookup = (placeholder: string) =>
        textOf(values.get(condition.names[Number(placeholder.slice(PREFIX.length))]!) ?? null)
      if (chosen || !(await isTrue(condition.expression, lookup, patterns))) continue
    }
    chosen ??= rule
  }
  return chosen ?? {}
}

const textOf = (value: Value) => (value === null ? undefined : shown(value))

const PREFIX = 'input_'

/** Parses `$[[ inputs.a ]] == "b"`, with each input as a variable. */
function conditionIn(written: Value): { expression: Expression | null; names: string[] } {
  const names: string[] = []
  if (!isText(written)) return { expression: null, names }
  const text = written.replace(
    /\$\[\[\s*inputs\.([\w.-]+)\s*\]\]/g,
    (_, name: string) => `$${PREFIX}${names.push(name) - 1}`,
  )
  // Other variables are unknown here.
  const isPlain = !/\$(?!input_\d)/.test(text)
  return { expression: isPlain ? parseExpression(text) : null, names }
}

async function everyPattern(expression: Expression | null, patterns: Patterns): Promise<boolean> {
  if (expression) for (const pattern of patternsOf(expression)) if (!(await patterns.isPattern(pattern))) return false
  return true
}

/** Replaces blocks in the text, so that YAML does not read their brackets. */
const OPEN = '\uE000'
const CLOSE = '\uE001'

export interface Filling {
  readonly text: string
  readonly fill: Fill
}

/** Replaces each `$[[ … ]]` by a mark, and returns a function that fills the marks after parsing. */
export function filling(text: string, named: Known, variables: readonly Variable[]): Filling {
  const blocks: string[] = []
  const parts: string[] = []
  let at = 0
  for (let start = text.indexOf('$[['); start >= 0; start = text.indexOf('$[[', at)) {
    const end = text.slice(start, start + LONGEST_BLOCK).indexOf(']]')
    const stop = end < 0 ? start + 3 : start + end + 2
    parts.push(text.slice(at, start), end < 0 ? '$[[' : `${OPEN}${blocks.length}${CLOSE}`)
    if (end >= 0) blocks.push(text.slice(start + 3, start + end))
    if (blocks.length > MOST_BLOCKS) throw new ConfigFault('too many interpolation blocks')
    at = stop
  }
  parts.push(text.slice(at))

  let left = LONGEST_RESULT
  const known = new Map<string, Value>()
  const value = (index: string, mark: Mark): Value => {
    const block = blocks[Number(index)] ?? ''
    const before = known.get(block)
    const found = before === undefined ? valueOfBlock(block, named, variables, mark) : before
    known.set(block, found)
    left -= typeof found === 'string' ? found.length : JSON.stringify(found).length
    if (left < 0) throw new ConfigFault('too much is interpolated', mark)
    return found
  }
  const fill: Fill = (scalar, mark) => {
    if (!scalar.includes(OPEN)) return null
    const whole = /^\uE000(\d{1,6})\uE001$/.exec(scalar)?.[1]
    if (whole !== undefined) return { value: value(whole, mark), isWhole: true }
    const text = scalar.replace(/\uE000(\d{1,6})\uE001/g, (_, index: string) => {
      const found = value(index, mark)
      return found === null ? '' : typeof found === 'string' ? found : JSON.stringify(found)
    })
    return { value: text, isWhole: false }
  }
  return { text: parts.join(''), fill }
}

function valueOfBlock(block: string, named: Known, variables: readonly Variable[], mark: Mark): Value {
  const [path = '', ...functions] = block.split('|').map((part) => part.trim())
  // Filled later, when the jobs of a matrix are created.
  if (/^matrix\.\w+$/.test(path) && functions.length === 0) return `$[[ ${path} ]]`
  const found = named.get(path)
  if (found === undefined)
    throw new ConfigFault(`unknown interpolation key: \`${path.replace(/^(inputs|component)\./, '')}\``, mark)
  if (functions.length > MOST_FUNCTIONS) throw new ConfigFault('too many functions in interpolation block', mark)
  return functions.reduce<Value>((value, call) => apply(call, value, variables, mark), found)
}

function apply(call: string, value: Value, variables: readonly Variable[], mark: Mark): Value {
  const truncate = /^truncate\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)$/.exec(call)
  if (!truncate && call !== 'expand_vars' && call !== 'posix_escape')
    throw new ConfigFault(
      `no function matching \`${call}\`: check that the function name, arguments, and types are correct`,
      mark,
    )
  if (typeof value !== 'string')
    throw new ConfigFault(`error in \`${call}\` function: invalid input type: not a string`, mark)
  if (truncate) return value.slice(Number(truncate[1]), Number(truncate[1]) + Number(truncate[2]))
  if (call === 'posix_escape') return posixEscape(value)
  return expand(value, (name) => {
    const variable = variables.findLast(({ key }) => key === name)
    if (variable?.masked)
      throw new ConfigFault(
        `error in \`expand_vars\` function: variable expansion error: masked variables cannot be expanded`,
        mark,
      )
    return variable?.value
  })
}

const posixEscape = (text: string) =>
  text === '' ? "''" : text.replace(/[^\w@%+=:,./\n-]/g, (char) => `\\${char}`).replaceAll('\n', "'\n'")
