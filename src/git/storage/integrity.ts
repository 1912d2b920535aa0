/** Checks a repository: every object exists and is valid, and every ref points to one. */
import { HOUR } from '../../clock.ts'
import { poolOf } from './alternates.ts'
import { GitFailed, git } from '../process/command.ts'
import { FORGIVEN, repositoryExists } from './repositories.ts'

/** A commit-graph stores dates in 34 bits. For a commit with a later date, git would report a difference. */
const WITHOUT_GRAPH = { 'core.commitGraph': 'false' }

/**
 * Fails with git's message if the repository contains objects that a push could not bring. The old (dumb) HTTP protocol
 * brings objects that no index-pack has checked.
 */
export async function assertClean(dir: string, signal?: AbortSignal): Promise<void> {
  const slips = Object.fromEntries(FORGIVEN.map((slip) => [`fsck.${slip}`, 'ignore']))
  const config = { ...WITHOUT_GRAPH, ...slips }
  await git(dir, ['fsck', '--strict', '--full', '--no-dangling', '--no-progress'], { deadline: HOUR, config, signal })
}

/** The problems that git finds, in its own words. Empty for a sound repository. */
export async function faultsOf(dir: string): Promise<string[]> {
  const pool = await poolOf(dir)
  // Git would report each missing object.
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
