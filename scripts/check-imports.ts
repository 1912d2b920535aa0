// Checks the import rules of src/: `node scripts/check-imports.ts [root]`. Tests (*.test.ts, a family's cases.ts) may
// import anything, and only tests import them. No file of src/, web/, bench/, test/ or scripts/ is part of a cycle.
import { globSync, readFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'

// A file imports from its own row or a row further down, never further up.
const layers = [
  ['main'],
  ['cli'],
  ['forge'],
  ['backup'],
  ['app'],
  ['web'],
  ['features', 'transport'],
  ['api'],
  ['context'],
  ['git', 'store', 'jobs', 'mail', 'directory', 'outbound', 'ci'],
  ['errors', 'config', 'log', 'clock', 'version'],
  ['lib'],
]

// Neighbours in a row that must not import each other.
const strangers = [
  ['git', 'store'],
  ['store', 'git'],
  ['ci', 'git'],
  ['ci', 'store'],
]

// Between contexts, calls point down this list; events travel up.
const contexts = [
  'integrations',
  'merge-requests',
  'ci',
  'planning',
  'repository',
  'groups',
  'projects',
  'access',
  'identity',
  'instance',
]

// Inside a family, by file name.
const withoutIo = ['policy.ts', 'entity.ts']
const io = {
  files: ['queries.ts', 'service.ts'],
  layers: ['git', 'store', 'jobs', 'mail', 'directory', 'outbound'],
  builtins: /^(node:)?(child_process|dgram|dns|fs|http|http2|https|net|sqlite|tls|worker_threads)(\/|$)/,
}

const MIGRATIONS = 'src/store/migrations/'

type Rule = (from: Module, to: Module) => string | false | undefined

const rulesForAll: Rule[] = [
  (from, to) => from.layer === 'lib' && to.ours && to.layer !== 'lib' && 'lib imports nothing of ours outside lib',
  (_, to) => to.ours && isCode(to.path) && !to.path.startsWith('src/') && 'src imports no code from outside src',
  (_, to) => to.ours && isTest(to.path) && 'tests are no part of the program',
  (from, to) =>
    from.path.startsWith(MIGRATIONS) &&
    to.ours &&
    !to.path.startsWith(MIGRATIONS) &&
    'a migration imports only what never changes: copy it to migrations/helpers',
  (from, to) => rank(to) < rank(from) && `${from.layer} must not import ${to.layer}, which stands above it`,
  (from, to) =>
    strangers.some(([one, other]) => one === from.layer && other === to.layer) &&
    `${from.layer} knows nothing of ${to.layer}`,
  (from, to) =>
    /(^|-)routes\.ts$/.test(to.role ?? '') &&
    from.role !== 'family.ts' &&
    `nobody imports ${to.role} but its family.ts`,
  (from, to) =>
    to.role === 'family.ts' && from.path !== 'src/features/families.ts' && 'nobody imports family.ts but families.ts',
  (from, to) => from.role === 'queries.ts' && to.role === 'service.ts' && 'queries.ts must not import service.ts',
]

const rulesForValues: Rule[] = [
  (from, to) => withoutIo.includes(from.role ?? '') && doesIo(to) && `${from.role} does no I/O, only import type`,
  (from, to) =>
    from.context &&
    to.context &&
    contexts.indexOf(to.context) < contexts.indexOf(from.context) &&
    `${from.context} must not call ${to.context}: emit an event instead`,
]

/** How the tables above classify a file. A package or builtin is not ours and has only a path. */
type Module = { path: string; ours: boolean; layer?: string; context?: string; role?: string }

type Import = { line: number; specifier: string; target: string; value: boolean; onlyInlineTypes: boolean }

type Violation = { path: string; line: number; text: string }

const isRelative = (specifier: string) => /^\.{1,2}(\/|$)/.test(specifier)
const isCode = (path: string) => /\.[cm]?[jt]s$/.test(path)
export const isTest = (path: string) => /\.test\.ts$|^src\/features\/.*\/cases\.ts$/.test(path)
const rank = ({ layer }: Module) => (layer ? layers.findIndex((row) => row.includes(layer)) : Infinity)
const doesIo = ({ path, ours, layer = '', role = '' }: Module) =>
  ours ? io.layers.includes(layer) || io.files.includes(role) : io.builtins.test(path)

function locate(path: string, ours = true): Module {
  const [top, first = '', ...rest] = path.split('/')
  const layer = first.replace(/\.ts$/, '')
  if (!ours || top !== 'src' || !layers.flat().includes(layer)) return { path, ours }
  if (layer !== 'features' || rest.length < 2) return { path, ours, layer }
  return { path, ours, layer, context: contexts.find((context) => context === rest[0]), role: basename(path) }
}

/** Replaces comments and template literals by blanks, so that only real statements match; line numbers stay correct. */
function blankNonCode(source: string): string {
  const tokens = /\/\*[^]*?\*\/|\/\/.*|`(?:\\[^]|[^`\\])*`|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g
  return source.replace(tokens, (token) => (/^['"]/.test(token) ? token : token.replace(/[^\n]/g, ' ')))
}

const statement =
  /^[ \t]*(?:import|export)\b\s*(?<type>type\b(?!\s+from\b))?(?<names>[^'"`;()=]*?\bfrom\b|)\s*(['"])(?<from>.+?)\3/gm
// Without one of these words in front, import('…') is a type.
const expression = /(?<loads>(?:\bawait|\breturn|=>)\s*)?\bimport\(\s*(['"])(?<from>.+?)\2/g

function hasOnlyInlineTypes(names: string): boolean {
  const list = /^\s*\{([^}]*)\}\s*from$/
    .exec(names)?.[1]
    ?.split(',')
    .filter((name) => name.trim())
  return list !== undefined && list.every((name) => /^\s*type\s/.test(name))
}

function importsOf(path: string, source: string): Import[] {
  const code = blankNonCode(source)
  const read = ({ index, groups }: RegExpExecArray, value: boolean): Import => {
    const specifier = groups?.['from'] ?? ''
    return {
      line: code.slice(0, index).split('\n').length,
      specifier,
      target: isRelative(specifier) ? posix.join(posix.dirname(path), specifier) : specifier,
      value,
      onlyInlineTypes: hasOnlyInlineTypes(groups?.['names'] ?? ''),
    }
  }
  return [
    ...Array.from(code.matchAll(statement), (match) => read(match, !match.groups?.['type'])),
    ...Array.from(code.matchAll(expression), (match) => read(match, Boolean(match.groups?.['loads']))),
  ]
}

/**
 * A hint if `import { type A }` breaks a rule about values: without its types, the statement still loads the module.
 */
const hint = (how: Import) => (how.onlyInlineTypes ? ' (write import type: import { type … } loads the module)' : '')

/** The first rule that an import breaks, as text. */
function judge(from: Module, how: Import): string | undefined {
  const relative = isRelative(how.specifier)
  if (relative && !/\.([cm]?[jt]s|json)$/.test(how.specifier)) return 'relative imports carry a written extension'
  const to = locate(how.target, relative)
  const firstBroken = (rules: Rule[]) => rules.map((rule) => rule(from, to)).find(Boolean) || undefined
  const ofValues = how.value && firstBroken(rulesForValues)
  return firstBroken(rulesForAll) ?? (ofValues ? ofValues + hint(how) : undefined)
}

/** Every import that leads back to a file still being visited; one is enough to name a cycle. */
function findCycles(graph: Map<string, Import[]>): Violation[] {
  const found: Violation[] = []
  const walked = new Set<string>()
  const trail: string[] = []
  function walk(path: string) {
    walked.add(path)
    trail.push(path)
    for (const how of graph.get(path) ?? []) {
      if (!graph.has(how.target)) continue
      if (!walked.has(how.target)) walk(how.target)
      else if (trail.includes(how.target)) {
        const cycle = [...trail.slice(trail.indexOf(how.target)), how.target].join(' → ')
        found.push({ path, line: how.line, text: `imports ${how.target}: closes the cycle ${cycle}` })
      }
    }
    trail.pop()
  }
  for (const path of graph.keys()) if (!walked.has(path)) walk(path)
  return found
}

function checkFile(path: string, imports: Import[]): Violation[] {
  const from = locate(path)
  if (!from.layer) return [{ path, line: 1, text: 'is in no layer' }]
  if (from.role && !from.context) return [{ path, line: 1, text: 'is in no context' }]
  return imports.flatMap((how) => {
    const broken = judge(from, how)
    return broken ? [{ path, line: how.line, text: `imports ${how.target}: ${broken}` }] : []
  })
}

export function checkImports(root: string): { files: number; violations: string[] } {
  const paths = globSync('src/**/*.ts', { cwd: root }).filter((path) => !isTest(path))
  const graph = new Map(paths.toSorted().map((path) => [path, importsOf(path, readFileSync(join(root, path), 'utf8'))]))
  const others = globSync('{src,web,bench,test,scripts}/**/*.{ts,tsx}', { cwd: root }).filter(
    (path) => !graph.has(path),
  )
  const whole = new Map(graph)
  for (const path of others.toSorted()) whole.set(path, importsOf(path, readFileSync(join(root, path), 'utf8')))
  const violations = [...graph].flatMap(([path, imports]) => checkFile(path, imports)).concat(findCycles(whole))
  return { files: whole.size, violations: violations.map(({ path, line, text }) => `${path}:${line} ${text}`) }
}

if (import.meta.main) {
  const { files, violations } = checkImports(process.argv[2] ?? process.cwd())
  console.log(violations.length > 0 ? violations.join('\n') : `imports: ${files} files, in order`)
  process.exitCode = violations.length > 0 ? 1 : 0
}
