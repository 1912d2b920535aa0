import { family } from '../../family.ts'
import { releaseTodos } from './user-removal.ts'
import { reactions } from './on.ts'

/** The endpoints belong to the context of merge requests, because to-do items refer to these, too. */
export const todoKeeping = family({ reactions, onUserRemoved: releaseTodos })
