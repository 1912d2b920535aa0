/** Builds the shell scripts that run a job's commands, for bash and any other sh. */
import { GREEN, RESET } from './sections.ts'

/** Variables that are read-only in bash. */
const READ_ONLY = new Set(['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID'])

export interface Script {
  readonly environment: Iterable<[string, string]>
  /** The working folder. */
  readonly folder: string
  readonly commands: readonly string[]
  readonly isTraced?: boolean
}

export function scriptOf({ environment, folder, commands, isTraced = false }: Script): string {
  const exported = [...environment].filter(([key]) => !READ_ONLY.has(key))
  return [
    // One pipe for both, so that stdout and stderr keep their order.
    'exec 2>&1 </dev/null',
    'umask 0022',
    ...exported.map(([key, value]) => `export ${key}=${quoted(value)}`),
    'set -e',
    'if (set -o pipefail) 2>/dev/null; then set -o pipefail; fi',
    'set +o noclobber',
    `cd ${quoted(folder)}`,
    ...(isTraced ? ['set -x'] : []),
    ...commands.flatMap((command) => [`printf '%s\\n' ${quoted(shown(command.trim()))}`, command.trim()]),
    '',
  ].join('\n')
}

function shown(command: string): string {
  if (command === '') return ''
  const [first, ...rest] = command.split('\n')
  return `${GREEN}$ ${first}${rest.length > 0 ? ' # collapsed multi-line command' : ''}${RESET}`
}

export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
