/**
 * Quick actions: lines of a text that are commands, such as `/close` or `/label ~bug`. They are removed from the text
 * and returned in order.
 */
import { linesOf } from './prose.ts'

/** The kinds of records that take commands. */
export type Actionable = 'issue' | 'merge_request' | 'commit'

interface Definition {
  readonly on: readonly Actionable[]
  readonly aliases?: readonly string[]
  /** The text that replaces the line. */
  readonly text?: (argument: string) => string
}

const ISSUE = { on: ['issue'] } as const
const MERGE_REQUEST = { on: ['merge_request'] } as const
const BOTH = { on: ['issue', 'merge_request'] } as const

const appended = (face: string) => (argument: string) => (argument ? `${argument} ${face}` : face)

export const QUICK_ACTIONS = {
  approve: MERGE_REQUEST,
  assign: BOTH,
  assign_reviewer: { ...MERGE_REQUEST, aliases: ['reviewer', 'request_review'] },
  award: { ...BOTH, aliases: ['react'] },
  board_move: ISSUE,
  cc: { ...BOTH, text: (argument) => `/cc ${argument}`.trimEnd() },
  clear_weight: ISSUE,
  clone: ISSUE,
  close: BOTH,
  confidential: ISSUE,
  copy_metadata: BOTH,
  create_merge_request: ISSUE,
  done: BOTH,
  draft: MERGE_REQUEST,
  due: { ...ISSUE, aliases: ['due_date'] },
  duplicate: ISSUE,
  estimate: { ...BOTH, aliases: ['estimate_time'] },
  label: { ...BOTH, aliases: ['labels'] },
  lock: BOTH,
  merge: MERGE_REQUEST,
  milestone: BOTH,
  move: ISSUE,
  ready: MERGE_REQUEST,
  reassign: BOTH,
  rebase: MERGE_REQUEST,
  relabel: BOTH,
  relate: ISSUE,
  remove_due_date: ISSUE,
  remove_estimate: { ...BOTH, aliases: ['remove_time_estimate'] },
  remove_milestone: BOTH,
  remove_time_spent: BOTH,
  reopen: BOTH,
  severity: ISSUE,
  shrug: { ...BOTH, text: appended('¯\\_(ツ)_/¯') },
  spend: { ...BOTH, aliases: ['spend_time', 'spent'] },
  submit_review: MERGE_REQUEST,
  subscribe: BOTH,
  tableflip: { ...BOTH, text: appended('(╯°□°)╯︵ ┻━┻') },
  tag: { on: ['commit'] },
  target_branch: MERGE_REQUEST,
  title: BOTH,
  todo: BOTH,
  unapprove: MERGE_REQUEST,
  unassign: BOTH,
  unassign_reviewer: { ...MERGE_REQUEST, aliases: ['remove_reviewer'] },
  unlabel: { ...BOTH, aliases: ['remove_label', 'remove_labels'] },
  unlock: BOTH,
  unsubscribe: BOTH,
  weight: ISSUE,
  wip: MERGE_REQUEST,
} as const satisfies Record<string, Definition>

export type QuickActionName = keyof typeof QUICK_ACTIONS

const NAMES = new Map<string, QuickActionName>(
  Object.entries<Definition>(QUICK_ACTIONS).flatMap(([name, { aliases = [] }]) =>
    [name, ...aliases].map((spelling) => [spelling, name as QuickActionName]),
  ),
)

export interface QuickAction {
  readonly name: QuickActionName
  /** Trimmed; empty if there is none. */
  readonly argument: string
}

const COMMAND = /^\/([a-z_]{1,40})(?: (.*))?$/i

/**
 * The stored text, trimmed and without carriage returns, and its commands. Known commands are removed whether or not
 * they can be executed. Lines in code, HTML or a quote are text; with `on`, so are commands of other kinds of records.
 */
export function splitQuickActions(text: string, on?: Actionable): { text: string; commands: QuickAction[] } {
  const commands: QuickAction[] = []
  const kept = linesOf(text.replaceAll('\r', '')).flatMap((line) => {
    const [, spelling = '', argument = ''] = (line.block === null && COMMAND.exec(line.text.trimEnd())) || []
    const name = NAMES.get(spelling.toLowerCase())
    const definition: Definition | undefined = name && QUICK_ACTIONS[name]
    if (name === undefined || !definition || (on && !definition.on.includes(on))) return [line.text]
    if (definition.text) return [definition.text(argument.trim())]
    commands.push({ name, argument: argument.trim() })
    return []
  })
  return { text: kept.join('\n').trim(), commands }
}
