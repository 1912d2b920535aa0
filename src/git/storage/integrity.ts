/** Whether a repository is whole: every object there and sound, every ref pointing at one. */
import { HOUR } from '../../clock.ts'
import { poolOf } from './alternates.ts'
import { GitFailed, git } from '../process/command.ts'
import { repositoryExists } from './repositories.ts'

/** A commit-graph keeps dates in 34 bits; of a commit with a later one git would say that they differ. */
const WITHOUT_GRAPH = { 'core.commitGraph': 'false' }

/** What git finds wrong, in its own words; empty of a sound repository. */
export async function faultsOf(dir: string): Promise<string[]> {
  const pool = await poolOf(dir)
  // git would tell of each object that is missed.
  if (pool !== null && !(await repositoryExists(pool))) return [`it shares the objects of ${pool}, which is not there`]
  try {
    await git(dir, ['fsck', '--full', '--no-dangling', '--no-progress'], { deadline: HOUR, config: WITHOUT_GRAPH })
    return []
  } catch (error) {
    if (!(error instanceof GitFailed) || error.reason !== 'exit') throw error
    const lines = error.stderr.split('\n').filter((line) => line.trim() !== '')
    return lines.length > 0 ? lines : ['git fsck found it broken']
  }
}
