/** Whether a repository is whole: every object there and sound, every ref pointing at one. */
import { HOUR } from '../clock.ts'
import { GitFailed, git } from './command.ts'

/** What git finds wrong, in its own words; empty of a sound repository. */
export async function faultsOf(dir: string): Promise<string[]> {
  try {
    await git(dir, ['fsck', '--full', '--no-dangling', '--no-progress'], { deadline: HOUR })
    return []
  } catch (error) {
    if (!(error instanceof GitFailed) || error.reason !== 'exit') throw error
    const lines = error.stderr.split('\n').filter((line) => line.trim() !== '')
    return lines.length > 0 ? lines : ['git fsck found it broken']
  }
}
