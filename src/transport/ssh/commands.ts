/**
 * The commands of a client: git's own, the LFS command, new recovery codes, a token, and the identity check. Nothing
 * ever reaches a shell.
 */
import type { Operation } from '../lfs/token.ts'

export type Command =
  | { readonly verb: 'upload-pack' | 'receive-pack' | 'upload-archive'; readonly path: string }
  | { readonly verb: 'lfs-authenticate'; readonly path: string; readonly operation: Operation }
  | { readonly verb: '2fa_recovery_codes' }
  | { readonly verb: 'discover' }
  | { readonly verb: 'personal_access_token'; readonly words: readonly string[] }

/** A command for a repository. */
export type GitCommand = Extract<Command, { readonly path: string }>

const LONGEST = 4096

/** `git-upload-pack '/group/project.git'`, or `git upload-pack`. Null for everything else. */
export function parseCommand(line: string): Command | null {
  const words = line.length > LONGEST ? null : wordsOf(line)
  if (!words) return null
  const [only] = words.length === 1 ? words : []
  if (only === '2fa_recovery_codes' || only === 'discover') return { verb: only }
  if (words[0] === 'personal_access_token') return { verb: words[0], words: words.slice(1) }
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

/** Splits a line like a shell, without any expansion. Null for an unclosed quote. */
function wordsOf(line: string): string[] | null {
  const words = [...line.trimEnd().matchAll(WORD)]
  const isWhole = words.reduce((length, [text]) => length + text.length, 0) === line.trimEnd().length
  return isWhole ? words.map(([, word]) => word!.replace(PART, unquoted)) : null
}

const unquoted = (_: string, single?: string, double?: string, escaped?: string, bare?: string) =>
  single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? bare ?? ''
