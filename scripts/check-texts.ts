// Checks that pages and notification mails contain no texts of their own: `node scripts/check-texts.ts [root]`. Texts of
// pages are in web/texts, one module per area; texts that features render themselves are in their `texts.ts`.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'rolldown/utils'

interface Node {
  readonly type: string
  readonly start: number
  readonly [key: string]: unknown
}

/** Attributes that people read, and attributes that only programs read. In others, whole words are texts. */
const read = /^(?:alt|aria-label|button|confirm|empty|facts|hint|label|placeholder|summary|title)$/
const unread = /^(?:class|content|data-\w+|href|id|name|pattern|rel|role|type)$/

const passing = /^(?:ConditionalExpression|LogicalExpression|ParenthesizedExpression|TemplateLiteral|TSAsExpression)$/
const silent = /^(?:TS(?!As)\w+|Import\w+|SwitchCase|MemberExpression)$/
/** Tags and attributes of HTML. */
const markup = /<[^>]*>|[\w-]+="[^"]*"/g
const searches = /^(?:closest|querySelector|querySelectorAll|startsWith)$/

const word = /\p{L}{2}/u
const sentence = /^[“(]?\p{Lu}\p{Ll}+(?![\p{L}-]*\p{Lu})|\p{L}{2}[,:;.)”]? \p{L}/u
/** Paths, patterns, selectors, commands, keys, durations and the name of the product. */
const code =
  /^(?:(?:· )?Mortise|\S*[._/@#$*=\\{}<>]\S*|[.<{][^]*|(?:git|curl|ssh-\w+) [^]*|MORTISE_[^]*|-----BEGIN[^]*|\w+: \[[^]*|#\d.*|g \w|Draft:|(?:\d+[hdwm] ?)+)$/

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'
const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode)
function nameOf(value: unknown): string {
  const name = (value as Node | undefined)?.name
  return typeof name === 'string' ? name : ''
}

function isCode(text: string): boolean {
  const trimmed = text.trim()
  return code.test(trimmed) && trimmed !== 'CI/CD' && !/^[\p{L}-]+[.…]$/u.test(trimmed)
}

/** The strings of an expression; a template is one string. */
function stringOf(node: Node): string | null {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type !== 'TemplateLiteral') return null
  return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('')
}

/** The text of an HTML template, without its markup. */
const textOfHtml = (node: Node): string =>
  stringOf(node.quasi as Node)!
    .replaceAll(markup, ' ')
    .trim()

export function textsIn(path: string, source: string): string[] {
  const found: string[] = []
  const home = path.startsWith('web/') ? 'web/texts' : 'texts.ts'
  const walk = (node: Node, isRead: boolean): void => {
    if (isUnread(node)) return
    const isTagged = node.type === 'TaggedTemplateExpression'
    const text = node.type === 'JSXText' ? String(node.value) : isTagged ? textOfHtml(node) : stringOf(node)
    const isProgram = text !== null && isCode(text)
    if (text !== null && !isProgram && (isRead ? word : sentence).test(text)) {
      const line = source.slice(0, node.start).split('\n').length
      found.push(`${path}:${line}: “${text.trim().slice(0, 60)}” belongs in ${home}`)
    }
    const children = isTagged ? childrenOf(node.quasi as Node) : childrenOf(node)
    for (const child of children) walk(child, isReadIn(node, child, isRead && !isProgram))
  }
  walk(parseSync(path, source).program as unknown as Node, false)
  return found
}

/** Types, imports, comparisons, and strings for programs. */
function isUnread(node: Node): boolean {
  if (node.type === 'JSXAttribute') return unread.test(nameOf(node.name))
  if (node.type === 'CallExpression') return searches.test(nameOf((node.callee as Node).property))
  if (node.type === 'TaggedTemplateExpression') return nameOf(node.tag) !== 'html'
  return silent.test(node.type) || (node.type === 'BinaryExpression' && node.operator !== '+')
}

/** Whether a string reaches the reader as it stands. */
function isReadIn(node: Node, child: Node, isRead: boolean): boolean {
  if (node.type === 'JSXElement' || node.type === 'JSXFragment') return child.type !== 'JSXOpeningElement'
  if (node.type === 'JSXAttribute') return read.test(nameOf(node.name))
  if (node.type === 'JSXExpressionContainer') return isRead
  return isRead && passing.test(node.type) && child !== node.test
}

/** Sample texts for every component. */
const gallery = 'web/pages/instance/-/gallery.tsx'

/** Pages and mails that features render themselves. */
const rendered = [
  'src/features/{identity,access}/**/pages.ts',
  'src/features/identity/{sessions,sign-up,terms}/{admission,forms,web,*-web}.ts',
  'src/features/integrations/notifications/{frame,letters,pages,unsubscribing}.ts',
]

export function checkTexts(root: string): { files: number; violations: string[] } {
  const paths = globSync(['web/**/*.{ts,tsx}', ...rendered], { cwd: root })
    .filter((path) => !/^web\/(?:texts\/|schema|vite)/.test(path) && path !== gallery)
    .toSorted()
  const violations = paths.flatMap((path) => textsIn(path, readFileSync(join(root, path), 'utf8')))
  return { files: paths.length, violations }
}

if (import.meta.main) {
  const { files, violations } = checkTexts(process.argv[2] ?? process.cwd())
  console.log(violations.length > 0 ? violations.join('\n') : `texts: ${files} files, in order`)
  process.exitCode = violations.length > 0 ? 1 : 0
}
