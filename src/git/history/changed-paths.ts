import type { QuarantineOptions } from '../objects/objects.ts'
import { rev } from '../process/arguments.ts'
import { git, GitFailed } from '../process/command.ts'

const DEADLINE_MS = 30_000
const MAX_OUTPUT = 8 * 1024 * 1024

/** The paths that differ between two commits; for a rename, both paths. Null if there are too many. */
export async function changedPaths(
  dir: string,
  from: string,
  to: string,
  most: number,
  options: QuarantineOptions = {},
): Promise<string[] | null> {
  try {
    const output = await git(dir, ['diff-tree', '-r', '-z', '--name-only', '--no-renames', rev(from), rev(to)], {
      ...options,
      deadline: DEADLINE_MS,
      maxOutput: MAX_OUTPUT,
    })
    const paths = output.split('\0').slice(0, -1)
    return paths.length > most ? null : paths
  } catch (error) {
    if (error instanceof GitFailed && (error.reason === 'output' || error.reason === 'deadline')) return null
    throw error
  }
}
