/**
 * Decodes query strings and urlencoded forms with the bracket conventions of v4 clients: `a[]=1` appends to an array,
 * `a[b]=c` nests, `a[][b]=c` fills an array of objects and starts a new object when `b` already exists. Of
 * contradicting values the last wins. Objects have no prototype, so no name is special. Input that cannot be decoded or
 * exceeds the limits throws MalformedParams.
 */

export class MalformedParams extends Error {
  override name = 'MalformedParams'
}

type Value = string | Value[] | Branch
interface Branch {
  [name: string]: Value
}

const maxPairs = 1_000
const maxDepth = 5

export const parseParams = (text: string): Record<string, unknown> => nestParams(pairsIn(text))

function* pairsIn(text: string): Generator<[name: string, value: string]> {
  for (let start = 0, end; start < text.length; start = end + 1) {
    end = text.indexOf('&', start)
    if (end === -1) end = text.length
    if (end === start) continue
    const pair = text.slice(start, end)
    const equals = pair.indexOf('=')
    const name = decode(equals === -1 ? pair : pair.slice(0, equals))
    yield [name, equals === -1 ? '' : decode(pair.slice(equals + 1))]
  }
}

/** The same for already decoded names and values. */
export function nestParams(pairs: Iterable<readonly [name: string, value: string]>): Record<string, unknown> {
  const params = emptyBranch()
  let count = 0
  for (const [name, value] of pairs) {
    if (++count > maxPairs) throw new MalformedParams('too many parameters')
    if (name.includes('[')) assign(params, splitName(name), value)
    else params[name] = value
  }
  return params
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    throw new MalformedParams('invalid percent-encoding')
  }
}

/** `a[b][]` is `['a', 'b', '']`. A name with unbalanced brackets is taken literally. */
function splitName(name: string): string[] {
  const open = name.indexOf('[')
  if (open === 0 || !name.endsWith(']')) return [name]
  const steps = name.slice(open + 1, -1).split('][')
  if (steps.some((step) => /[[\]]/.test(step))) return [name]
  if (steps.length >= maxDepth) throw new MalformedParams('parameters nested too deeply')
  return [name.slice(0, open), ...steps]
}

function assign(params: Branch, path: string[], value: string) {
  let node: Branch | Value[] = params
  for (let depth = 0; depth < path.length - 1; depth++) {
    node = descend(node, path[depth]!, path.slice(depth + 1))
  }
  put(node, path.at(-1)!, value)
}

/** The array or object below `node` for the rest of the path; created if there is no suitable one. */
function descend(node: Branch | Value[], step: string, rest: string[]): Branch | Value[] {
  const current = Array.isArray(node) ? node.at(-1) : node[step]
  const inArray = rest[0] === ''
  if (inArray ? Array.isArray(current) : isBranch(current)) {
    const beginsAnother = Array.isArray(node) && holds(current, rest)
    if (!beginsAnother) return current as Branch | Value[]
  }
  const made = inArray ? [] : emptyBranch()
  put(node, step, made)
  return made
}

function put(node: Branch | Value[], step: string, value: Value) {
  if (Array.isArray(node)) node.push(value)
  else node[step] = value
}

function holds(value: Value | undefined, path: string[]): boolean {
  for (const step of path) {
    if (!isBranch(value)) return false
    value = value[step]
  }
  return value !== undefined
}

function isBranch(value: Value | undefined): value is Branch {
  return typeof value === 'object' && !Array.isArray(value)
}

function emptyBranch(): Branch {
  return Object.create(null) as Branch
}
