import { flagOf, settings, variableOf, type Config } from '../config.ts'
import type { Verb } from './verb.ts'

const HELP_COLUMN = 34

const row = (left: string, right: string) => `  ${left.padEnd(HELP_COLUMN)}${right}`.trimEnd()

export function helpOfAll(verbs: Record<string, Verb>): string {
  return [
    'Usage: mortise [COMMAND] [FLAGS]',
    '',
    'Commands:',
    ...verbRows(verbs),
    '',
    'Run mortise COMMAND --help for details of a command, mortise --version for the version.',
    '',
    ...settingRows(),
  ].join('\n')
}

/** Help of all verbs that begin with a word such as `user`. */
export function helpOfGroup(group: string, verbs: Record<string, Verb>): string {
  return [`Usage: mortise ${group} COMMAND [FLAGS]`, '', 'Commands:', ...verbRows(verbs)].join('\n')
}

export function helpOfVerb(name: string, { summary, details, words = [], rest, flags = {} }: Verb): string {
  const own = Object.entries(flags).map(([flag, { value, help, short }]) =>
    row(`${short ? `-${short}, ` : ''}--${flag} ${value ?? ''}`, help),
  )
  return [
    ['Usage: mortise', name, ...words, ...(rest ? [`[${rest}…]`] : []), '[FLAGS]'].join(' '),
    '',
    `${summary}.`,
    ...(details ? ['', details] : []),
    '',
    ...(own.length > 0 ? ['Flags:', ...own, ''] : []),
    ...settingRows(),
  ].join('\n')
}

const verbRows = (verbs: Record<string, Verb>) =>
  Object.entries(verbs).map(([name, { summary, words = [], rest }]) =>
    row([name, ...words, ...(rest ? [`[${rest}…]`] : [])].join(' '), summary),
  )

function settingRows(): string[] {
  const rows = (Object.keys(settings) as (keyof Config)[]).flatMap((name) => {
    const { help, shown, default: value } = settings[name]
    return [
      row(`--${flagOf(name)} VALUE`, help),
      row(`    ${variableOf(name)}`, `default: ${shown ?? String(value as string | number)}`),
    ]
  })
  return ['Settings, as flags, environment variables, or in mortise.config.json in the data folder:', ...rows]
}
