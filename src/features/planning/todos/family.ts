import { family } from '../../family.ts'
import { releaseTodos } from './user-removal.ts'
import { reactions } from './on.ts'

/** Its endpoints stand where merge requests are known, which wait like issues do. */
export const todoKeeping = family({ reactions, onUserRemoved: releaseTodos })
