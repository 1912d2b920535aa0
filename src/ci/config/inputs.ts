/** `spec: inputs` of a file's header, and `$[[ inputs.name | function ]]` in the rest of it. */
import { ConfigFault, isMapping, type Mapping, type Mark, type Value } from './tree.ts'
import type { Patterns } from './patterns.ts'
import { Faults, Spot } from './faults.ts'
import type { Fill } from './yaml.ts'
import type { Variable } from './variables.ts'
import { expand } from './variables.ts'
import { isScalar, isText, knowsKeys } from './values.ts'

const TYPES = ['string', 'number', 'boolean', 'array'] as const
type Type = (typeof TYPES)[number]

const MOST_INPUTS = 100
const LONGEST_BLOCK = 1024
const MOST_BLOCKS = 20_000
const MOST_FUNCTIONS = 3
/** Of all that is filled in. */
const LONGEST_RESULT = 1024 * 1024
const SPEC_KEYS = ['type', 'default', 'options', 'regex', 'description']

const TYPE_FAULTS: Record<Type, string> = {
  string: 'provided value is not a string',
  number: 'provided value is not a number',
  boolean: 'provided value is not a boolean',
  array: 'provided value is not an array',
}

export type Inputs = ReadonlyMap<string, Value>

const isOf = (type: Type, value: Value) => (type === 'array' ? Array.isArray(value) : typeof value === type)

const shown = (value: Value) => (isText(value) ? value : JSON.stringify(value))

/** What the header asks for, with what is given: all values, or the first thing that is wrong. */
export async function readInputs(header: Mapping, given: Mapping, patterns: Patterns): Promise<Inputs> {
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
  for (const [name, one] of Object.entries(specs)) {
    const fault = (text: string) => faults.add(`\`${name}\` input: ${text}`, spot.at(specs as Mapping, name).mark)
    values.set(
      name,
      await valueOf(one, given[name], spot.at(specs as Mapping, name, `inputs:${name}`), fault, patterns),
    )
  }
  const strangers = Object.keys(given).filter((name) => !values.has(name))
  if (strangers.length > 0) faults.add(`unknown input arguments: ${strangers.join(', ')}`)
  const [first] = faults.list
  if (first) throw new ConfigFault(first.message, markIn(first))
  return values
}

const markIn = ({ file, line, column }: { file?: string; line?: number; column?: number }): Mark | undefined =>
  file === undefined ? undefined : { file, line: line ?? 1, column: column ?? 1 }

async function valueOf(
  written: Value,
  given: Value | undefined,
  spot: Spot,
  fault: (text: string) => void,
  patterns: Patterns,
): Promise<Value> {
  const spec = written ?? {}
  if (!isMapping(spec)) return spot.config('should be a hash') ?? null
  knowsKeys(spot, spec, SPEC_KEYS)
  const type = TYPES.find((known) => known === (spec['type'] ?? 'string'))
  if (!type) return spot.attribute(spec, 'type', `should be one of: ${TYPES.join(', ')}`) ?? null
  const value = given ?? spec['default']
  if (value === undefined) return fault('required value has not been provided') ?? null
  if (!isOf(type, value)) {
    fault(given === undefined ? TYPE_FAULTS[type].replace('provided', 'default') : TYPE_FAULTS[type])
    return null
  }
  const { options = null, regex = null } = spec
  if (options !== null && (!Array.isArray(options) || options.length > 50 || !options.every(isScalar)))
    spot.attribute(spec, 'options', 'should be an array of at most 50 strings or numbers')
  else if (options !== null && !options.some((option) => option === value))
    fault(`\`${shown(value)}\` cannot be used because it is not in the list of allowed options`)
  if (regex !== null && (type !== 'string' || !isText(regex) || !(await patterns.isPattern(regex))))
    spot.attribute(spec, 'regex', 'must be a regular expression with re2 syntax')
  else if (isText(regex) && !(await patterns.isFound(regex, shown(value))))
    fault('provided value does not match required RegEx pattern')
  return value
}

/** In place of blocks in the text, so that brackets of theirs are none of YAML's. */
const OPEN = '\uE000'
const CLOSE = '\uE001'

export interface Filling {
  readonly text: string
  readonly fill: Fill
}

/** The text with each `$[[ … ]]` made a mark, and what fills the marks in once it is read. */
export function filling(text: string, inputs: Inputs, variables: readonly Variable[]): Filling {
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
    const found = before === undefined ? valueOfBlock(block, inputs, variables, mark) : before
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
      return typeof found === 'string' ? found : JSON.stringify(found)
    })
    return { value: text, isWhole: false }
  }
  return { text: parts.join(''), fill }
}

function valueOfBlock(block: string, inputs: Inputs, variables: readonly Variable[], mark: Mark): Value {
  const [path = '', ...functions] = block.split('|').map((part) => part.trim())
  const name = /^inputs\.([\w.-]+)$/.exec(path)?.[1]
  const found = name === undefined ? undefined : inputs.get(name)
  if (found === undefined) throw new ConfigFault(`unknown interpolation key: \`${name ?? path}\``, mark)
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
