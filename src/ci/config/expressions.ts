/** Conditions of `rules:if` and `only:variables`. Parsed once, limited in size, with RE2 patterns only. */
import type { Patterns } from './patterns.ts'
import type { Lookup } from './variables.ts'

const MOST_TOKENS = 100
const LONGEST_TEXT = 10_000

export type Expression =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'null' }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'pattern'; readonly pattern: string }
  | { readonly kind: Operator; readonly left: Expression; readonly right: Expression }

type Operator = '==' | '!=' | '=~' | '!~' | '&&' | '||'
type Token = { readonly kind: 'value'; readonly value: Expression } | { readonly kind: Operator | '(' | ')' }
type Result = string | boolean | null

const WORD = /\s*(?:(==|!=|=~|!~|&&|\|\||\(|\))|\$(\w+)|"([^"]*)"|'([^']*)'|\/((?:[^/\\\n]|\\.)*)\/([ismU]*)|(null\b))/y

/** Null if the text is not an expression. */
export function parseExpression(text: string): Expression | null {
  const tokens = tokensOf(text)
  if (!tokens) return null
  let at = 0
  const take = (...kinds: string[]) => (kinds.includes(tokens[at]?.kind ?? '') ? tokens[at++] : undefined)

  function chain(operators: Operator[], next: () => Expression | null): Expression | null {
    let left = next()
    for (let operator = take(...operators); left && operator; operator = take(...operators)) {
      const right = next()
      left = right && { kind: operator.kind as Operator, left, right }
    }
    return left
  }
  function value(): Expression | null {
    const token = take('value')
    if (token?.kind === 'value') return token.value
    if (!take('(')) return null
    const inner = either()
    return take(')') ? inner : null
  }
  const comparison = () => chain(['==', '!=', '=~', '!~'], value)
  const both = () => chain(['&&'], comparison)
  const either = () => chain(['||'], both)

  const read = either()
  return at === tokens.length ? read : null
}

function tokensOf(text: string): Token[] | null {
  if (text.length > LONGEST_TEXT) return null
  const end = text.trimEnd().length
  const tokens: Token[] = []
  for (WORD.lastIndex = 0; WORD.lastIndex < end;) {
    const [whole, operator, name, double, single, pattern, flags = '', nothing] = WORD.exec(text) ?? []
    if (whole === undefined || tokens.length === MOST_TOKENS) return null
    const string = double ?? single
    if (operator) tokens.push({ kind: operator as Operator })
    else if (name) tokens.push({ kind: 'value', value: { kind: 'variable', name } })
    else if (string !== undefined) tokens.push({ kind: 'value', value: { kind: 'text', text: string } })
    else if (pattern !== undefined)
      tokens.push({ kind: 'value', value: { kind: 'pattern', pattern: withFlags(pattern, flags) } })
    else if (nothing) tokens.push({ kind: 'value', value: { kind: 'null' } })
  }
  return tokens
}

const withFlags = (pattern: string, flags: string) => (flags === '' ? pattern : `(?${flags})${pattern}`)

/** Parses `/pattern/flags`. Null if the text has another form. */
export function patternIn(text: string): string | null {
  const [, pattern, flags] = /^\/([^]*)\/([ismU]*)$/.exec(text) ?? []
  return pattern === undefined ? null : withFlags(pattern, flags ?? '')
}

export function* patternsOf(expression: Expression): Generator<string> {
  if (expression.kind === 'pattern') yield expression.pattern
  if (!('left' in expression)) return
  yield* patternsOf(expression.left)
  yield* patternsOf(expression.right)
}

export async function isTrue(expression: Expression, lookup: Lookup, patterns: Patterns): Promise<boolean> {
  const result = await evaluate(expression, lookup, patterns)
  return typeof result === 'string' ? result.trim() !== '' : result === true
}

async function evaluate(expression: Expression, lookup: Lookup, patterns: Patterns): Promise<Result> {
  switch (expression.kind) {
    case 'text':
      return expression.text
    case 'null':
      return null
    case 'variable':
      return lookup(expression.name) ?? null
    case 'pattern':
      return `/${expression.pattern}/`
    case '&&':
    case '||': {
      const left = await evaluate(expression.left, lookup, patterns)
      const isEnough = (typeof left === 'string' ? left.trim() !== '' : left === true) === (expression.kind === '||')
      return isEnough ? left : evaluate(expression.right, lookup, patterns)
    }
    case '==':
    case '!=': {
      const left = await evaluate(expression.left, lookup, patterns)
      const right = await evaluate(expression.right, lookup, patterns)
      return (left === right) === (expression.kind === '==')
    }
    case '=~':
    case '!~': {
      const text = await evaluate(expression.left, lookup, patterns)
      const pattern = await patternOf(expression.right, lookup, patterns)
      if (pattern === null) return expression.kind === '!~'
      return (await patterns.isFound(pattern, text === null ? '' : String(text))) === (expression.kind === '=~')
    }
  }
}

/** A variable may contain a pattern. */
async function patternOf(expression: Expression, lookup: Lookup, patterns: Patterns): Promise<string | null> {
  if (expression.kind === 'pattern') return expression.pattern
  const value = await evaluate(expression, lookup, patterns)
  return typeof value === 'string' ? patternIn(value) : null
}
