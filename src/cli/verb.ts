/** The declaration of a CLI verb: its help, its flags and its function. Settings are flags of every verb. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { flagOf, readConfig, settings, type Config } from '../config.ts'

/** The command line is wrong; reported in one line, with exit code 2. */
export class Misuse extends Error {}

export interface Flag {
  readonly help: string
  /** The name of the value in `--help`; a flag without one is a boolean. */
  readonly value?: string
  /** May be given several times; the values are in `lists`. */
  readonly many?: true
  /** A one-letter alias. */
  readonly short?: string
}

export interface Call {
  readonly config: Config
  /** One for each positional argument of the verb, in order. */
  readonly words: string[]
  readonly flags: Record<string, string | undefined>
  readonly switches: Record<string, boolean | undefined>
  readonly lists: Record<string, readonly string[] | undefined>
}

export interface Verb {
  readonly summary: string
  /** Further sentences, shown only in the help of the verb. */
  readonly details?: string
  /** Names of the positional arguments, e.g. `USERNAME`; all are required. */
  readonly words?: readonly string[]
  /** The name of further positional arguments, any number of them. */
  readonly rest?: string
  readonly flags?: Record<string, Flag>
  /** Returns the exit code if it is not 0. */
  run(call: Call): Promise<number | void>
}

export type Parsed = { help: true } | { help: false; call: Call }

export function parseCall(name: string, verb: Verb, args: string[]): Parsed {
  const options: ParseArgsOptionsConfig = { help: { type: 'boolean', short: 'h' } }
  for (const setting of Object.keys(settings)) options[flagOf(setting)] = { type: 'string' }
  for (const [flag, { value, many = false, short }] of Object.entries(verb.flags ?? {}))
    options[flag] = { type: value ? 'string' : 'boolean', multiple: many, ...(short ? { short } : {}) }

  const { values, positionals: words } = parse(args, options)
  if (values.help) return { help: true }
  const { words: expected = [] } = verb
  const missing = expected.slice(words.length)
  if (missing.length > 0) throw new Misuse(`${missing.join(' and ')} missing, see mortise ${name} --help`)
  if (words.length > expected.length && !verb.rest) throw new Misuse(`unexpected argument: ${words[expected.length]}`)

  const flags: Call['flags'] = {}
  const switches: Call['switches'] = {}
  const lists: Call['lists'] = {}
  for (const [flag, value] of Object.entries(values)) {
    if (Array.isArray(value)) lists[flag] = value.map(String)
    else if (typeof value === 'string') flags[flag] = value
    else switches[flag] = Boolean(value)
  }
  return { help: false, call: { config: readConfig(flags, process.env), words, flags, switches, lists } }
}

function parse(args: string[], options: ParseArgsOptionsConfig) {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    // The first sentence names the error, the rest explains arguments that start with a dash.
    throw new Misuse((error as Error).message.split(/[.\n]/)[0])
  }
}

export function required(call: Call, flag: string): string {
  const value = call.flags[flag]
  if (!value) throw new Misuse(`--${flag} is required`)
  return value
}

export function numberOf(
  { flags }: Call,
  flag: string,
  { least, most, otherwise }: { least: number; most: number; otherwise: number },
): number {
  const text = flags[flag]
  if (text === undefined) return otherwise
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < least || number > most)
    throw new Misuse(`--${flag} must be a number from ${least} to ${most}`)
  return number
}
