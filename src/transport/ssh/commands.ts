/** What a client may ask for: git's own verbs, the one of LFS, and new recovery codes. Nothing of it ever reaches a shell. */
import type { Operation } from '../lfs/token.ts'

export type Command =
  | { readonly verb: 'upload-pack' | 'receive-pack' | 'upload-archive'; readonly path: string }
  | { readonly verb: 'lfs-authenticate'; readonly path: string; readonly operation: Operation }
  | { readonly verb: '2fa_recovery_codes' }

/** A command that is about a repository. */
export type GitCommand = Exclude<Command, { readonly verb: '2fa_recovery_codes' }>

const LONGEST = 4096

/** `git-upload-pack '/group/project.git'`, also as `git upload-pack`; null for everything else. */
export function parseCommand(line: string): Command | null {
  const words = line.length > LONGEST ? null : wordsOf(line)
  if (!words) return null
  if (words.length === 1 && words[0] === '2fa_recovery_codes') return { verb: '2fa_recovery_codes' }
  const [first, ...rest] = words
  const [program, path, operation, ...more] = first === 'git' ? [`git-${rest[0]}`, ...rest.slice(1)] : words
  if (!path || more.length > 0) return null
  switch (program) {
    case 'git-upload-pack':
    case 'git-receive-pack':
    case 'git-upload-archive':
      return operation === undefined ? { verb: program.slice('git-'.length) as 'upload-pack', path } : null
    case 'git-lfs-authenticate':
      return operation === 'download' || operation === 'upload' ? { verb: 'lfs-authenticate', path, operation } : null
    default:
      return null
  }
}

const WORD = /\s*((?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+)/gsy
const PART = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)/gs

/** As a shell would take them apart, without all that it would put in; null where a quote is not closed. */
function wordsOf(line: string): string[] | null {
  const words = [...line.trimEnd().matchAll(WORD)]
  const isWhole = words.reduce((length, [text]) => length + text.length, 0) === line.trimEnd().length
  return isWhole ? words.map(([, word]) => word!.replace(PART, unquoted)) : null
}

const unquoted = (_: string, single?: string, double?: string, escaped?: string, bare?: string) =>
  single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? bare ?? ''
