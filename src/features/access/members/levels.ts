import { invalid } from '../../../errors.ts'
import { Developer, Guest, Master, Owner, Reporter } from '../../../lib/levels.ts'
import type { SourceColumns } from './model.ts'

/** Between the rungs of the ladder; newer clients know them. They hold the rights of the level below. */
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

/** In words, for mail and pages. */
export const levelName = (level: number): string => NAMES.get(level) ?? String(level)
