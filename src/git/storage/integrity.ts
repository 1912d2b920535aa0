/** Whether a repository is whole: every object there and sound, every ref pointing at one. */
import { HOUR } from '../../clock.ts'
import { poolOf } from './alternates.ts'
import { GitFailed, git } from '../process/command.ts'
import { FORGIVEN, repositoryExists } from './repositories.ts'

/** A commit-graph keeps dates in 34 bits; of a commit with a later one git would say that they differ. */
const WITHOUT_GRAPH = { 'core.commitGraph': 'false' }

/**
 * Fails with git's words unless it holds what a push might bring. The old file protocol of HTTP brings objects that no
 * index-pack has looked into.
 */
export async function assertClean(dir: string, signal?: AbortSignal): Promise<void> {
  const slips = Object.fromEntries(FORGIVEN.map((slip) => [`fsck.${slip}`, 'ignore']))
  const config = { ...WITHOUT_GRAPH, ...slips }
  await git(dir, ['fsck', '--strict', '--full', '--no-dangling', '--no-progress'], { deadline: HOUR, config, signal })
}

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
