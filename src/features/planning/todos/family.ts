import { family } from '../../family.ts'
import { leaveTodos } from './farewell.ts'
import { reactions } from './on.ts'

/** Its endpoints stand where merge requests are known, which wait like issues do. */
export const todoKeeping = family({ reactions, farewell: leaveTodos })
