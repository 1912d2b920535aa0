/** Commits that rows name, against those that the repository has. */
import type { App } from '../../../context.ts'
import { withoutCommit } from '../../../git/objects/presence.ts'
import { referencedCommits } from '../../projects/housekeeping/referenced-commits.ts'
import type { Project } from '../../projects/projects/queries.ts'

/** Of a repository that has lost everything no more are told. */
const MOST_TOLD = 100

export async function missingCommits({ db }: App, { id }: Pick<Project, 'id'>, dir: string): Promise<string[]> {
  const told: string[] = []
  for await (const { table, id: row, column, sha } of withoutCommit(dir, referencedCommits(db, id))) {
    if (told.length === MOST_TOLD) return [...told, 'there are more such rows']
    told.push(`row ${row} of ${table} names the commit ${sha} (${column}), which is not there`)
  }
  return told
}
