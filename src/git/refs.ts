/** Names that point at objects. */
import { branch } from './arguments.ts'
import { GitFailed, git } from './command.ts'

export async function branchExists(dir: string, name: string): Promise<boolean> {
  try {
    await git(dir, ['show-ref', '--verify', '--quiet', branch(name)])
    return true
  } catch (error) {
    if (error instanceof GitFailed && error.reason === 'exit') return false
    throw error
  }
}
