/** Patch ids of commits: the same change has the same id wherever it is applied, as git computes it. */
import { MINUTE } from '../../clock.ts'
import { rev } from '../process/arguments.ts'
import { git, GitFailed, gitStream } from '../process/command.ts'

/** By commit. Merges and empty commits have no patch id, nor do commits beyond the time limit. */
export async function patchIdsOf(dir: string, commits: readonly string[]): Promise<Map<string, string>> {
  if (commits.length === 0) return new Map()
  const deadline = MINUTE / 2
  const patches = gitStream(
    dir,
    ['diff-tree', '--stdin', '-r', '--root', '--patch', '--full-index', '--no-ext-diff', '--no-textconv'],
    { input: commits.map((id) => `${rev(id)}\n`).join(''), deadline },
  )
  try {
    const output = await git(dir, ['patch-id', '--stable'], { input: patches, deadline })
    return new Map([...output.matchAll(/^([0-9a-f]{40}) ([0-9a-f]{40})$/gm)].map(([, patch, id]) => [id!, patch!]))
  } catch (error) {
    if (error instanceof GitFailed && error.reason === 'deadline') return new Map()
    throw error
  }
}
