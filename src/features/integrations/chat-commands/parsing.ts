/** A parsed slash command. */
export type Command =
  | { readonly kind: 'help'; readonly unknown?: string }
  | { readonly kind: 'issue new'; readonly title: string; readonly description: string }
  | { readonly kind: 'issue show' | 'issue close'; readonly iid: number }
  | { readonly kind: 'issue search'; readonly query: string }
  | { readonly kind: 'issue comment'; readonly iid: number; readonly note: string }
  | { readonly kind: 'deploy'; readonly from: string; readonly to: string }
  | { readonly kind: 'run'; readonly job: string; readonly rest: string }

const IID = /^#?(\d{1,10})$/

export function parseCommand(text: string): Command {
  const [line = '', ...more] = text.trim().split(/\r?\n/)
  const rest = more.join('\n').trim()
  const [noun = '', verb = '', ...words] = line.trim().split(/[ \t]+/)
  const tail = words.join(' ')
  const iid = Number(IID.exec(words[0] ?? '')?.[1] ?? Number.NaN)
  const unknown: Command = { kind: 'help', unknown: line.trim() }
  switch (noun.toLowerCase()) {
    case '':
    case 'help':
      return { kind: 'help' }
    case 'run':
      return verb === '' ? unknown : { kind: 'run', job: verb, rest: tail }
    case 'deploy': {
      const [to, environment, ...others] = words
      const isWhole = verb !== '' && to?.toLowerCase() === 'to' && environment !== undefined && others.length === 0
      return isWhole ? { kind: 'deploy', from: verb, to: environment } : unknown
    }
    case 'issue':
      break
    default:
      return unknown
  }
  switch (verb.toLowerCase()) {
    case 'new':
    case 'create':
      return tail === '' ? unknown : { kind: 'issue new', title: tail, description: rest }
    case 'search':
      return tail === '' ? unknown : { kind: 'issue search', query: tail }
    case 'show':
    case 'close':
      return Number.isNaN(iid) ? unknown : { kind: verb.toLowerCase() === 'show' ? 'issue show' : 'issue close', iid }
    case 'comment': {
      const note = [words.slice(1).join(' '), rest].filter(Boolean).join('\n')
      return Number.isNaN(iid) || note === '' ? unknown : { kind: 'issue comment', iid, note }
    }
    default:
      return unknown
  }
}

export const HELP = [
  'issue show <id>',
  'issue new <title> ⏎ <description>',
  'issue search <your query>',
  'issue close <id>',
  'issue comment <id> ⏎ <comment>',
  'deploy <environment> to <target-environment>',
  'run <job name> <arguments>',
  'help',
]
