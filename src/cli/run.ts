/** The command: finds the verb, parses its flags and runs it; errors are printed in one line. */
import { VERSION } from '../version.ts'
import { backup } from './backup.ts'
import { check } from './check.ts'
import { ci } from './ci.ts'
import { helpOfAll, helpOfGroup, helpOfVerb } from './help.ts'
import { migrate } from './migrate.ts'
import { lineOf } from './refusal.ts'
import { restore } from './restore.ts'
import { runner } from './runner.ts'
import { secrets } from './secrets.ts'
import { serve } from './serve.ts'
import { ssh } from './ssh.ts'
import { token } from './token.ts'
import { user } from './user.ts'
import { Misuse, parseCall, type Verb } from './verb.ts'

const verbs: Record<string, Verb> = {
  serve,
  runner,
  ...ci,
  migrate,
  check,
  ...backup,
  restore,
  ...user,
  ...token,
  ...secrets,
  ...ssh,
}

/** Returns the exit code. */
export async function run(args: string[]): Promise<number> {
  try {
    return await dispatch(args)
  } catch (error) {
    const line = lineOf(error)
    if (line === null) throw error
    console.error(`mortise: ${line}`)
    return error instanceof Misuse ? 2 : 1
  }
}

async function dispatch(args: string[]): Promise<number> {
  if (args[0] === '--version') return print(VERSION)
  if (args[0] === '--help' || args[0] === '-h' || args[0] === 'help') return print(helpOfAll(verbs))

  const [first = '', second = ''] = args
  // Without a verb, as in `mortise --port 9000`, the default is `serve`.
  if (first === '' || first.startsWith('-')) return runVerb('serve', verbs.serve!, args)
  const pair = `${first} ${second}`
  const inner = verbs[pair]
  if (inner) return runVerb(pair, inner, args.slice(2))
  const verb = verbs[first]
  if (verb) return runVerb(first, verb, args.slice(1))

  const group = Object.fromEntries(Object.entries(verbs).filter(([name]) => name.startsWith(`${first} `)))
  const known = Object.keys(group)
  if (known.length === 0) throw new Misuse(`unknown command: ${first}, see mortise --help`)
  if (second === '--help' || second === '-h') return print(helpOfGroup(first, group))
  throw new Misuse(
    `${second ? `unknown command: ${pair}` : `mortise ${first} needs a subcommand`}; known: ${known.join(', ')}`,
  )
}

async function runVerb(name: string, verb: Verb, args: string[]): Promise<number> {
  const parsed = parseCall(name, verb, args)
  if (parsed.help) return print(helpOfVerb(name, verb))
  return (await verb.run(parsed.call)) ?? 0
}

function print(text: string): number {
  console.log(text)
  return 0
}
