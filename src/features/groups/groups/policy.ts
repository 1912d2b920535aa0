import { policy } from '../../../api/endpoint.ts'
import type { User } from '../../../context.ts'
import { Guest, Owner } from '../../../lib/levels.ts'
import type { Row } from '../../../store/database.ts'
import { SUBGROUP_CREATION_LEVELS } from '../../identity/namespaces/model.ts'
import { projectCreationLevel } from '../../projects/projects/policy.ts'

/** A group, with the rights of one viewer. */
export interface GroupSubject {
  readonly group: Row<'namespaces'>
  readonly viewer: User | null
  /** From a membership here or in an ancestor, or from a share. */
  readonly level: number
  /** Visible to the viewer, or an ancestor of a group or project of theirs. */
  readonly visible: boolean
}

export const groupPolicy = policy<GroupSubject>()({
  read: (s) => s.level >= Guest || s.visible,
  createSubgroups: (s) => s.level >= SUBGROUP_CREATION_LEVELS[s.group.subgroup_creation_level],
  createProjects: (s) => s.viewer !== null && s.level >= projectCreationLevel(s.viewer, s.group),
  /** Needed to change attributes, members and directory links, and to delete the group. */
  own: (s) => s.level >= Owner,
})
