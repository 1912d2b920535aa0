import { policy } from '../../../api/endpoint.ts'
import type { User } from '../../../context.ts'
import { Guest, Owner } from '../../../lib/levels.ts'
import type { Row } from '../../../store/database.ts'
import { SUBGROUP_CREATION_LEVELS } from '../../identity/namespaces/model.ts'

/** A group as someone in particular meets it. */
export interface GroupSubject {
  readonly group: Row<'namespaces'>
  readonly viewer: User | null
  /** By membership here or above, or by a share. */
  readonly level: number
  /** Open to the viewer, or around something they belong to. */
  readonly visible: boolean
}

export const groupPolicy = policy<GroupSubject>()({
  read: (s) => s.level >= Guest || s.visible,
  createSubgroups: (s) => s.level >= SUBGROUP_CREATION_LEVELS[s.group.subgroup_creation_level],
  /** Attributes, members, directory links, the end. */
  own: (s) => s.level >= Owner,
})
