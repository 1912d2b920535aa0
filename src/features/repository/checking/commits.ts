/** Checks that the repository has the commits that rows name. */
import type { App } from '../../../context.ts'
import { withoutCommit } from '../../../git/objects/presence.ts'
import { referencedCommits } from '../../projects/housekeeping/referenced-commits.ts'
import type { Project } from '../../projects/projects/queries.ts'

/** The maximum number of reported commits, for a repository that has lost everything. */
const MOST_REPORTED = 100

export async function missingCommits({ db }: App, { id }: Pick<Project, 'id'>, dir: string): Promise<string[]> {
  const faults: string[] = []
  for await (const { table, id: row, column, sha } of withoutCommit(dir, referencedCommits(db, id))) {
    if (faults.length === MOST_REPORTED) return [...faults, 'there are more such rows']
    faults.push(`row ${row} of ${table} names the commit ${sha} (${column}), which is not there`)
  }
  return faults
}
