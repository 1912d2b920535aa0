import { invalid } from '../../../errors.ts'
import { Developer, Guest, Master, Owner, Reporter } from '../../../lib/levels.ts'
import type { SourceColumns } from './model.ts'

/** Levels between the classic ones, known to newer clients. They have the rights of the next lower level. */
const MinimalAccess = 5
const Planner = 15

const OF_PROJECTS = [Guest, Planner, Reporter, Developer, Master]
const OF_GROUPS = [MinimalAccess, ...OF_PROJECTS, Owner]

export function assertLevel({ group_id }: SourceColumns, level: number): void {
  const levels = group_id === null ? OF_PROJECTS : OF_GROUPS
  if (!levels.includes(level)) throw invalid({ access_level: ['is not included in the list'] })
}

const NAMES = new Map([
  [MinimalAccess, 'Minimal access'],
  [Guest, 'Guest'],
  [Planner, 'Planner'],
  [Reporter, 'Reporter'],
  [Developer, 'Developer'],
  [Master, 'Master'],
  [Owner, 'Owner'],
])

/** The name of a level, for mail and pages. */
export const levelName = (level: number): string => NAMES.get(level) ?? String(level)
